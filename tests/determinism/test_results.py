#!/usr/bin/env python3
"""Timing changes no result: programs verify their results and print the same as in functional mode, under every warp
scheduler and every CTA scheduler that `tyto schedulers` lists. A run whose counters violate an identity fails by
itself.

usage: test_results.py TYTO seven SIZE [MACHINE...]     seven programs on each of the machines, or on all
       test_results.py TYTO every SIZE MACHINE...       every program on each of the machines
       test_results.py TYTO others SIZE MACHINE...      every program on each machine except these
       test_results.py TYTO papers SIZE                 every program on the machines of the papers that use it

With SIZE as SIZE/N, each pair of program and machine runs with every Nth scheduler; the next pair starts one scheduler
later. All except `papers` repeat each run with other addresses and two threads, and compare the bytes."""
import json
import sys
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import FIXED_ADDRESSES, SEVEN, Tyto, in_parallel  # noqa: E402 (found by the line above)

TABLE = HERE.parent.parent / "workloads" / "README.md"
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|", re.MULTILINE)


ROOMY = {"mgemm": "a100", "wgemm": "v100", "hgemm": "h100", "hattention": "h100"}  # machines with enough shared memory for the program's tiles
TIMES = {"micro", "mmicro", "mgemm", "wgemm", "hgemm", "hattention"}  # these print measured times before the line that confirms the results

RACES = {"bfsmask"}  # the number of launches depends on the order of its threads; the result does not


def result_of(program, printed):
    """What does not depend on the machine.

    micro leaves out DRAM's bandwidth where its buffer is too small for the L2. It must print all other figures, and
    count those that it prints.
    """
    if program not in TIMES:
        return printed
    *figures, last = printed.splitlines()
    if program != "micro":
        return last
    names = [line.split()[0] for line in figures if not line.startswith("bandwidth.dram.")]
    return names, last == f"micro: {len(figures)} figures verified"


def used_by_papers(shipped):
    """(program, machine) for every use in the table of the workloads, for example `OWL AES, PRO AES`.

    A machine has the name of its paper. Programs that no paper uses run on gtx480, or on the machine in ROOMY.
    """
    for program, uses in ROW.findall(TABLE.read_text(encoding="utf-8")):
        machines = {use.split()[0].lower() for use in uses.split(",") if use.strip()}
        unknown = machines - set(shipped)
        assert not unknown, f"{TABLE.name}: {program} is used by {unknown}, which no machine is named after"
        for machine in sorted(machines) or [ROOMY.get(program, "gtx480")]:
            yield program, machine


def every_on(machines):
    """(program, machine) for every program of the workloads' table; programs that time themselves run only on their
    machine."""
    for program, _ in ROW.findall(TABLE.read_text(encoding="utf-8")):
        for machine in machines:
            if program not in TIMES or ROOMY.get(program, machines[0]) == machine:
                yield program, machine


def uses_of(which, shipped, machines):
    """[(program, machine)] for the command line."""
    if which == "papers":
        return sorted(used_by_papers(shipped), key=lambda use: use[1])
    if which == "others":
        machines = [machine for machine in shipped if machine not in machines]
    if which in ("every", "others"):
        return list(every_on(machines))
    return [(program, machine) for machine in machines or shipped for program in SEVEN]


def check(tyto, functional, size, is_repeated, row):
    """None, or the problem with the run of a row."""
    program, machine, option, scheduler = row
    name = f"{program} on {machine} under {scheduler}"
    words = ("--machine", machine, option, scheduler, program, "--size", size)
    try:
        printed, text = tyto.run(*words)
        if is_repeated and (printed, text) != tyto.run("--threads", "2", *words, prefix=FIXED_ADDRESSES):
            return f"{name} wrote other bytes with other addresses and two threads"
    except RuntimeError as error:
        return f"{name}: {error}"
    if result_of(program, printed) != result_of(program, functional[program][0]):
        return f"{name} printed {printed!r}"
    if program in TIMES | RACES:  # programs in TIMES may launch kernels depending on what they measure
        return None
    kernels = [json.loads(run)["kernels"] for run in (text, functional[program][1])]
    shapes = [[(kernel["kernel"], kernel["grid"], kernel["status"]) for kernel in run] for run in kernels]
    return None if shapes[0] == shapes[1] else f"{name} launched {shapes[0]}, not {shapes[1]}"


def main(command, which, size, *machines):
    tyto = Tyto(command)
    size, _, part = size.partition("/")
    uses = uses_of(which, tyto.machines(), machines)
    is_repeated = which != "papers" and shutil.which(FIXED_ADDRESSES[0]) is not None
    programs = sorted({program for program, _ in uses})
    functional = dict(zip(programs, in_parallel(
        lambda program: tyto.run("--functional", program, "--size", size), programs)))
    warps, ctas = tyto.schedulers()
    schedulers = [("--scheduler", name) for name in warps] + [("--cta-scheduler", name) for name in ctas]
    rows = [(program, machine, *scheduler) for use, (program, machine) in enumerate(uses)
            for place, scheduler in enumerate(schedulers) if (use + place) % int(part or 1) == 0]
    wrong = [what for what in in_parallel(lambda row: check(tyto, functional, size, is_repeated, row), rows) if what]
    print("\n".join(wrong + [f"{len(programs)} programs",
                             f"{len(rows) - len(wrong)} passed, {len(wrong)} failed"]))
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
