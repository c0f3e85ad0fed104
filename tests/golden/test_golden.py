#!/usr/bin/env python3
"""Did any statistic change? Compares every counter of small runs with those stored in MACHINE.json.

usage: test_golden.py TYTO CORNERS [MACHINE...]          TYTO_BLESS=1 rewrites the files

Without a MACHINE, all machines are tested. CORNERS is the program of corners.c. Every counter counts something in at
least one of the runs.

Both the release build (gcc) and the sanitizer build (clang, debugging) are compared with the same files, which also shows
that the builds count the same. A changed statistic needs a reason in the commit's message."""
import json
import os
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import Tyto, in_parallel  # noqa: E402 (found by the line above)

TYTO = Tyto(sys.argv.pop(1))
MACHINES = TYTO.machines()
CORNERS = pathlib.Path(sys.argv.pop(1)).resolve()
WANTED, sys.argv[1:] = sys.argv[1:] or MACHINES, []
KERNELS = ("corners", "matrix")  # launched by the program of corners.c
WORKLOADS = ("bfs", "matmul")  # scattered loads and many launches; shared memory and barriers
EVERYWHERE = ("lrr", "gto", "two-level", "ccws", "pro", "owl")
ELSEWHERE = {  # policies with parameters, and CTA schedulers, each on the machine of its paper
    "owl": ("cta-aware", "cta-aware-locality:fair=500", "cta-aware-locality-blp", "owl:prefetch=stop", "owl:start=always"),
    "ccws": ("swl:limit=2", "two-level:group=2,inner=gto,outer=gto"),
    "md": ("gto/md", "gto/limit:ctas=2"),  # warp scheduler / CTA scheduler
    "gtx480": ("two-level-active",),
    "qv100": ("two-level-active",),
}
MACHINE_CODE = {"a100", "h100", "rtx4090", "rtx5090"}  # machines that prefer machine code; that depends on the installed ptxas, lowered PTX does not
SMALL_L2 = "l2.size=16KiB"  # for replacement of lines and write-back of dirty ones
FEW_SETS = "l1d.size=4KiB"  # at times all lines of a set are in flight
DP_UNIT = "units.dp.count=1,ops.fp64_add.unit=dp,ops.fp64_mad.unit=dp,ops.fp64_div.unit=dp"
WIDER = {  # (workload, policy, values of the machine): for what the two workloads above do not do on that machine
    "owl": (("weather", "owl", SMALL_L2), ("convolution", "owl", ""), ("scan", "cta-aware", "")),
    "ccws": (("spmv", "ccws", ""), ("histogram", "ccws", ""), ("weather", "lrr", SMALL_L2)),
    "pro": (("montecarlo", "pro", ""), ("histogram", "pro", ""), ("corners", "lrr", "")),
    "md": (("sssp", "gto/md", ""), ("tpacf", "lrr", ""), ("spmv", "gto", FEW_SETS)),
    "gtx480": (("montecarlo", "gto", ""), ("weather", "gto", SMALL_L2), ("needle", "gto", ""),
               ("corners", "gto", DP_UNIT)),
    "qv100": (("montecarlo", "gto", ""), ("spmv", "lrr", ""), ("corners", "gto", ""), ("matrix", "gto", ""),
              ("matmul", "gto", "sm.instructions=lowered"), ("montecarlo", "lrr", "sm.instructions=lowered")),
    "a100": (("spmv", "lrr", ""), ("histogram", "gto", ""), ("matrix", "gto", "")),
    "rtx4090": (("spmv", "lrr", ""), ("histogram", "gto", "")),
    "rtx5090": (("spmv", "lrr", ""), ("histogram", "gto", "")),
    "h100": (("spmv", "lrr", ""), ("sssp", "gto", ""), ("needle", "gto", ""), ("corners", "gto", "")),
}
ROWS = {machine: [(workload, policy, "") for policy in EVERYWHERE + ELSEWHERE.get(machine, ()) for workload in WORKLOADS]
        + list(WIDER.get(machine, ())) for machine in MACHINES}


def name_of(workload, policy, values):
    return f"{workload} under {policy}" + (f" with {values}" if values else "")


def count(machine, workload, policy, values):
    """Every counter of a run that is not zero. Ratios are computed from them."""
    scheduler, _, ctas = policy.partition("/")
    more = ["--cta-scheduler", ctas] if ctas else []
    more += ["--code", "lowered"] if machine in MACHINE_CODE else []
    for value in filter(None, values.split(",")):
        more += ["--set", value]
    program = (CORNERS, HERE / f"{workload}.ptx") if workload in KERNELS else (workload, "--size", "test")
    total = TYTO.total("--machine", machine, "--scheduler", scheduler, *more, *program)
    return {name: value for name, value in total.items() if isinstance(value, int) and value}


def stored_of(machine):
    path = HERE / f"{machine}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def differences(name, stored, now):
    for counter in sorted(stored.keys() | now.keys()):
        before, after = stored.get(counter, 0), now.get(counter, 0)
        if before != after:
            yield f"{name}: {counter} is {after}, was {before}"


class Golden(unittest.TestCase):
    maxDiff = None

    def test_every_machine_has_stored_counters(self):
        files = {path.stem for path in HERE.glob("*.json")}
        self.assertEqual(sorted(files - set(MACHINES)), [], "stored counters of a machine that is not shipped")
        if not os.environ.get("TYTO_BLESS"):
            self.assertEqual(sorted(set(MACHINES) - files), [], "machines without stored counters: `make bless` stores "
                             "tests/golden/MACHINE.json; commit that file with the machine")

    def test_every_counter_counts_in_some_run(self):
        moved = {counter for machine in MACHINES for run in stored_of(machine).values() for counter in run}
        page = (HERE.parent.parent / "docs" / "metrics.md").read_text(encoding="utf-8")
        tables = re.findall(r"(?m)^\| counter \|.*\n((?:\|.*\n)+)", page)
        counters = re.findall(r"(?m)^\| `(\w+)`", "".join(tables))
        self.assertGreater(len(counters), 100)
        self.assertEqual([name for name in counters if name not in moved], [])


def add_case(machine):
    def test(self):
        counted = in_parallel(lambda row: count(machine, *row), ROWS[machine])
        now = {name_of(*row): counters for row, counters in zip(ROWS[machine], counted)}
        stored = stored_of(machine)
        changed = [line for name in sorted(now.keys() | stored.keys())
                   for line in differences(name, stored.get(name, {}), now.get(name, {}))]
        if os.environ.get("TYTO_BLESS"):
            (HERE / f"{machine}.json").write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
            print("\n".join(changed) or f"{machine}: nothing changed")
        elif changed:
            self.fail("\n".join(changed + ["TYTO_BLESS=1 stores the new ones: say why in the commit"]))

    setattr(Golden, f"test_{machine}_counts_as_before", test)


for each in WANTED:
    add_case(each)

if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
