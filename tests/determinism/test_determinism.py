#!/usr/bin/env python3
"""A run writes the same bytes every time: with repetitions, other address layouts, environments and numbers of processes.
(tests/golden compares each build with the same files, so builds agree.)

usage: test_determinism.py TYTO
"""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import FIXED_ADDRESSES, HOST, SEVEN, Tyto, in_parallel  # noqa: E402 (found by the line above)

TYTO = Tyto(sys.argv.pop(1))
FILES = {"--json": "run.json", "--csv": "run.csv", "--ctas": "ctas.csv", "--timeline": "time.json",
         "--policies": "policies.csv"}
WORKLOADS = ("bfs", "histogram", "matmul")
# A large environment moves the stack; some locales would change the format of numbers.
ENVIRONMENT = {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "TYTO_TEST_PADDING": "x" * 100_000,
               "MALLOC_PERTURB_": "165"}


def in_turn(*lists):
    """Tuples with one item of each list, so that each item occurs; as many tuples as the longest list has items."""
    return [tuple(each[place % len(each)] for each in lists) for place in range(max(map(len, lists)))]


def every_run():
    """Command words of runs that together use every machine, warp scheduler, CTA scheduler and DRAM request scheduler."""
    warps, ctas = TYTO.schedulers()
    for place, (machine, warp, cta, dram) in enumerate(in_turn(TYTO.machines(), warps, ctas, TYTO.dram_schedulers())):
        for workload in WORKLOADS[place % 2:]:
            yield ("--machine", machine, "--scheduler", warp, "--cta-scheduler", cta, "--set", f"dram.scheduler={dram}",
                   workload, "--size", "test")


def everything(words, **how):
    """All bytes that a run writes, per file."""
    with tempfile.TemporaryDirectory() as folder:
        files = [word for pair in FILES.items() for word in pair]
        printed = TYTO.output("run", "--quiet", *files, "--sample", "500", *words, folder=folder, **how)
        written = {name: (pathlib.Path(folder) / name).read_text(encoding="utf-8")
                   for name in FILES.values()}
    written["run.json"] = HOST.sub("", written["run.json"])
    return {"stdout": printed, **written}


class Determinism(unittest.TestCase):
    maxDiff = 2000

    def compare(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for name, text in one.items():
            self.assertTrue(text, name)
            self.assertEqual(text, other[name], name)

    def all_runs(self, **how):
        return in_parallel(lambda words: everything(words, **how), list(every_run()))

    def test_every_run_writes_the_same(self):
        """The second time with other addresses, and with an environment that moves the stack and would change the format of
        numbers. So one comparison finds what depends on any of them, and what differs from run to run."""
        prefix = FIXED_ADDRESSES if shutil.which(FIXED_ADDRESSES[0]) else ()
        for one, other in zip(self.all_runs(), self.all_runs(prefix=prefix, environment=ENVIRONMENT)):
            self.compare(one, other)

    def test_functional_runs_repeat(self):
        for name in SEVEN:
            words = ("--functional", name, "--size", "test")
            self.assertEqual(TYTO.run(*words), TYTO.run(*words, prefix=FIXED_ADDRESSES), name)

    def test_the_number_of_processes_does_not_matter(self):
        def compared(jobs):
            with tempfile.TemporaryDirectory() as folder:
                printed = TYTO.output("compare", "--jobs", jobs, "--json", "c.json", "--csv", "c.csv",
                                      "--schedulers", "lrr,gto,ccws,pro,owl", "bfs", "--size", "test",
                                      folder=folder)
                folder = pathlib.Path(folder)
                return printed, HOST.sub("", (folder / "c.json").read_text()), (folder / "c.csv").read_text()

        one = compared("1")
        self.assertEqual(one, compared("2"))
        self.assertEqual(one, compared(str(3 * (os.cpu_count() or 1))))


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad))
