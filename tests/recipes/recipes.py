"""Follows the table "I want to add ..." of CONTRIBUTING.md: one recipe for each of its rows.

A recipe adds files, most of them copies of the example that the row names. It adds rows to files that the row names. The
only other addition is the name of a new .c file in its folder's meson.build. Then the named tests must pass, and the
commands must print the given text. A part that is broken on purpose must fail every test that walks the registry,
although none of these tests names it."""
import dataclasses


@dataclasses.dataclass
class Recipe:
    name: str  # what NAME stands for in the table
    new: dict = dataclasses.field(default_factory=dict)  # file: its text, or (example file, {word: other word})
    rows: tuple = ()  # (file, text that occurs once, the same text with the row added)
    tests: tuple = ()
    commands: tuple = ()  # (arguments of tyto, with {build} for its folder; part of its output)
    made: tuple = ()  # files that a command writes (`make bless`) and that the row names too
    broken: tuple = ()  # (new file, part of its text, text that breaks it)
    walkers: tuple = ()  # tests that must fail when it is broken


def like(name, **words):
    return name, words


RECIPES = {
    "a warp scheduler": Recipe(
        name="keen",
        new={"src/sched/keen.c": like("src/sched/gto.c", sched_gto="sched_keen", gto="keen")},
        rows=[("src/sched/policies.h", "POLICY(gto) ", "POLICY(gto) POLICY(keen) ")],
        tests=["sched_registry", "sched_properties", "sched_cost"],
        commands=[(["schedulers"], "\n  keen\n"),
                  (["run", "--scheduler", "keen", "vecadd", "--size", "test"], "warps by keen"),
                  (["league", "vecadd", "--machines", "gtx480", "--sizes", "test", "--seeds", "1..2", "--database", "{build}/league.db"],
                   "\nkeen ")],
        broken=("src/sched/keen.c", "return greedy_pick(state, view, scheduler, ready);",
                "(void)state, (void)view, (void)scheduler;\n    return ready & 1 ? 1 : 0;"),
        walkers=["sched_properties", "sched_machines", "engine_threads", "engine_timing", "engine_profile", "random_kernels",
                 "determinism", "threads", "results"]),
    "a thread block (CTA) scheduler": Recipe(
        name="few",
        new={"src/sched/cta_few.c": like("src/sched/cta_limit.c", cta_limit="cta_few", **{'"limit"': '"few"'})},
        rows=[("src/sched/cta_policy.h", "POLICY(limit) ", "POLICY(limit) POLICY(few) ")],
        tests=["sched_registry"],
        commands=[(["schedulers"], "\n  few\n"),
                  (["run", "--cta-scheduler", "few:ctas=2", "vecadd", "--size", "test"], "CTAs by few:ctas=2")],
        broken=("src/sched/cta_few.c", "return s->ctas;", "return s->ctas > TYTO_MAX_CTAS;"),
        walkers=["sched_machines", "random_kernels", "determinism", "threads", "results"]),
    "a core of the SM": Recipe(
        name="turns",
        new={"src/sm/turns/turns.c": like("tests/sm/toy_core.c", **{'"toy_core.h"': '"sm/turns/turns.h"', '"toy"': '"turns"'},
                                          toy_core="sm_core_turns"),
             "src/sm/turns/turns.h": like("tests/sm/toy_core.h", TYTO_TESTS_SM_TOY_CORE_H="TYTO_SM_TURNS_TURNS_H",
                                          toy_core="sm_core_turns"),
             "src/sm/turns/meson.build": "tyto_sources += files('turns.c')\n"},
        rows=[("src/sm/meson.build", "subdir('modern')\n", "subdir('modern')\nsubdir('turns')\n"),
              ("src/sm/sm_config.h", 'X(MODERN, modern, "modern")', 'X(MODERN, modern, "modern") X(TURNS, turns, "turns")'),
              ("src/sm/core.c", '#include "sm/modern/modern.h"\n', '#include "sm/modern/modern.h"\n#include "sm/turns/turns.h"\n'),
              ("docs/architecture.md", "`sm/classic/` and `sm/modern/` are the cores", "`sm/classic/`, `sm/modern/` and `sm/turns/` are the cores")],
        tests=["sm_seams", "machine_machine_file"],
        commands=[(["run", "--machine", "gtx480", "--set", "sm.core=turns", "vecadd", "--size", "test"], "sums verified"),
                  (["run", "--machine", "ccws", "--set", "sm.core=turns", "spmv", "--size", "test"], "on ccws")]),
    "a machine": Recipe(
        name="tiny",
        new={"machines/tiny.yaml": "# Two SMs to try things on.\nbase: gtx480\nname: tiny\n"
                                   "title: \"Two SMs of gtx480\"\n\ngpu:\n  sms: 2    # ours\n"},
        rows=[("src/machine/meson.build", "'../../machines/gtx480.yaml'",
               "'../../machines/gtx480.yaml', '../../machines/tiny.yaml'")],
        made=["tests/golden/tiny.json"],
        tests=["machine_machine_file"],
        commands=[(["machines"], "tiny"), (["run", "--machine", "tiny", "vecadd", "--size", "test"], "vecadd on tiny")],
        broken=("machines/tiny.yaml", "sms: 2 ", "sms: 0 "),
        walkers=["machine_machine_file", "sched_machines", "sched_hooks", "engine_threads", "engine_timing", "engine_profile", "random_machines",
                 "random_kernels", "determinism", "threads", "golden"]),
    "a machine parameter": Recipe(
        name="daydreams",
        rows=[("src/sm/sm_config.h", '    P(COUNT, key, at, "width", width,',
               '    P(COUNT, key, at, "daydreams", daydreams, "cycles", 0, 9, "0", "spent without a thought") \\\n'
               '    P(COUNT, key, at, "width", width,')],
        tests=["machine_machine_file"],
        commands=[(["machines", "tiny"], "  daydreams: 0 cycles"),
                  (["run", "--set", "fetch.daydreams=7", "vecadd", "--size", "test"], "sums verified"),
                  (["run", "--set", "fetch.daydreams=10", "vecadd"], "fetch.daydreams")]),
    "a counter": Recipe(
        name="shared_turns",
        rows=[("src/stats/counters.h", '    SUM(shared_cycles, "SM cycles",',
               '    SUM(shared_turns, "turns", "times that shared memory turned") \\\n'
               '    SUM(shared_cycles, "SM cycles",')],
        tests=["stats_counters", "stats_writers"],
        commands=[(["run", "--verbose", "vecadd", "--size", "test"], "shared_turns"),
                  (["run", "--quiet", "--csv", "/dev/stdout", "vecadd", "--size", "test"], ",shared_turns,")]),
    "an option": Recipe(
        name="calm",
        rows=[("src/simulator/options.def", 'FLAG("Output", "--quiet",',
               'COUNT("Output", "--calm", calm, "3", 1, 9, 0, "How calm to be.")\nFLAG("Output", "--quiet",')],
        tests=["simulator_options"],
        commands=[(["help", "run"], "--calm N"), (["run", "--calm", "9", "vecadd", "--size", "test"], "verified")]),
    "a PTX instruction": Recipe(
        name="nand",
        rows=[("src/ptx/opcode.h", 'OPCODE(NANOSLEEP, "nanosleep")', 'OPCODE(NAND, "nand") OPCODE(NANOSLEEP, "nanosleep")'),
              ("src/ptx/opcode.c", '    {"nanosleep", PTX_OP_NANOSLEEP,',
               '    {"nand", PTX_OP_NAND, ".b32", "d, a, b"},\n    {"nanosleep", PTX_OP_NANOSLEEP,'),
              ("src/isa/decode/forms.def", 'FORM(AND, INT64, "daa",',
               'FORM(NAND, T(B32), "daa", NAND_32, OTHER)\nFORM(AND, INT64, "daa",'),
              ("src/isa/exec/exec_int.def", "MAP2(AND_32,", "MAP2(NAND_32, u32, u32, u32, ~(a & b))\nMAP2(AND_32,"),
              ("tests/conformance/rows_bits.c", "static uint64_t logic_not(const",
               "static uint64_t logic_nand(const Form *form, const uint64_t *in) {\n"
               "    return (void)form, ~(in[0] & in[1]);\n}\nstatic uint64_t logic_not(const"),
              ("tests/conformance/rows_bits.c", '    {"or(.pred,.b16,.b32,.b64)"',
               '    {"nand.b32", "0=00", logic_nand},\n    {"or(.pred,.b16,.b32,.b64)"')],
        tests=["conformance", "ptx_forms"]),
    "a DRAM request scheduler": Recipe(
        name="lcfs",
        new={"src/dram/sched_lcfs.c": like("src/dram/sched_fcfs.c", dram_scheduler_fcfs="dram_scheduler_lcfs")},
        rows=[("src/dram/queue.h", '    SCHEDULER(fcfs, "fcfs")', '    SCHEDULER(fcfs, "fcfs") \\\n    SCHEDULER(lcfs, "lcfs")')],
        tests=["dram_channel", "machine_machine_file"],
        commands=[(["run", "--set", "dram.scheduler=lcfs", "vecadd", "--size", "test"], "sums verified")],
        broken=("src/dram/sched_lcfs.c", "if (s->arrival.head == DRAM_NONE) return 0;",
                "if (queue->count < UINT16_MAX) return 0;"),
        walkers=["sched_machines", "engine_threads", "engine_timing", "random_kernels", "determinism", "threads"]),
    "a workload": Recipe(
        name="sum",
        new={"workloads/sum/kernel.cu": like("workloads/vecadd/kernel.cu", vecadd="sum"),
             "workloads/sum/host.c": like("workloads/vecadd/host.c", vecadd="sum")},
        rows=[("workloads/meson.build", "  'vecadd', ", "  'vecadd', 'sum', ")],
        tests=["sum"],
        commands=[(["run", "sum", "--size", "test"], "kernel sum,")]),
    "a table or figure of a paper": Recipe(
        name="ours-figure-1",
        new={"experiments/ours-figure-1.yaml": like("experiments/pro-figure-1.yaml", **{"pro-figure-1": "ours-figure-1"})},
        rows=[("experiments/meson.build", "  'ccws-figure-1',", "  'ours-figure-1', 'ccws-figure-1',")],
        commands=[(["reproduce", "list"], "ours-figure-1")]),
    "a fuzz target": Recipe(
        name="string",
        new={"tests/fuzz/fuzz_string.c": like("tests/fuzz/fuzz_json.c"), "tests/fuzz/string/plain": "text\n"},
        rows=[("tests/fuzz/meson.build", "'json', ", "'json', 'string', ")],
        tests=["fuzz_string"]),
}
