#!/usr/bin/env python3
"""Did any statistic change? Every counter of small runs, against those stored in MACHINE.json here.

usage: test_golden.py TYTO          TYTO_BLESS=1 writes the files anew

Both the release build (gcc) and the sanitizer build (clang, debugging) are held against the same files,
so they also show that the builds count alike. A changed statistic needs a reason in the commit's message.
"""
import json
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import MACHINES, Tyto, in_parallel  # noqa: E402 (found by the line above)

TYTO = Tyto(sys.argv.pop(1))
WORKLOADS = ("bfs", "matmul")  # scattered loads and many launches; shared memory and barriers
EVERYWHERE = ("lrr", "gto", "two-level", "ccws", "pro", "owl")
ELSEWHERE = {  # further policies, each on the machine of its paper
    "owl": ("cta-aware", "cta-aware-locality:fair=500", "cta-aware-locality-blp", "owl:prefetch=stop"),
    "ccws": ("swl:limit=2", "two-level:group=2,inner=gto,outer=gto"),
    "pro": (),
    "md": ("gto/md", "gto/limit:ctas=2"),  # warp scheduler / CTA scheduler
    "gtx480": ("two-level-active",),
}


def count(machine, policy, workload):
    """Every counter of a run that is not zero. Ratios follow from them."""
    scheduler, _, ctas = policy.partition("/")
    more = ("--cta-scheduler", ctas) if ctas else ()
    total = TYTO.total("--machine", machine, "--scheduler", scheduler, *more, workload, "--size", "test")
    return {name: value for name, value in total.items() if isinstance(value, int) and value}


def differences(name, stored, now):
    for counter in sorted(stored.keys() | now.keys()):
        before, after = stored.get(counter, 0), now.get(counter, 0)
        if before != after:
            yield f"{name}: {counter} is {after}, was {before}"


class Golden(unittest.TestCase):
    maxDiff = None


def add_case(machine):
    def test(self):
        rows = [(workload, policy) for policy in EVERYWHERE + ELSEWHERE[machine] for workload in WORKLOADS]
        counted = in_parallel(lambda row: count(machine, row[1], row[0]), rows)
        now = {f"{workload} under {policy}": counters for (workload, policy), counters in zip(rows, counted)}
        path = HERE / f"{machine}.json"
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        changed = [line for name in sorted(now.keys() | stored.keys())
                   for line in differences(name, stored.get(name, {}), now.get(name, {}))]
        if os.environ.get("TYTO_BLESS"):
            path.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
            print("\n".join(changed) or f"{machine}: nothing changed")
        elif changed:
            self.fail("\n".join(changed + ["TYTO_BLESS=1 stores the new ones: say why in the commit"]))

    setattr(Golden, f"test_{machine}_counts_as_before", test)


for each in MACHINES:
    add_case(each)

if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
