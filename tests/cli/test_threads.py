#!/usr/bin/env python3
"""Every file of a run is the same, byte for byte, however many host threads step the SMs.

usage: test_threads.py TYTO [all]

`all` takes every machine, every scheduler and more programs.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import hear_signals  # noqa: E402 (found by the line above)

hear_signals()
TYTO = pathlib.Path(sys.argv[1]).resolve()
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 600
FILES = ("json", "csv", "ctas", "timeline", "policies", "record-l1d", "profile-json")
SAMPLE = ("--sample", "500")
# Machine, options and program; programs whose SMs meet in memory often.
SELECTION = [
    ("gtx480", (), "histogram"),
    ("gtx480", ("--scheduler", "lrr"), "bfs"),
    ("owl", ("--scheduler", "owl"), "reduction"),
    ("pro", ("--scheduler", "pro"), "matmul"),
    ("md", ("--cta-scheduler", "md"), "spmv"),
    ("ccws", ("--scheduler", "ccws"), "bfs"),
    ("qv100", (), "histogram"),
    ("a100", (), "spmv"),
]
THREADS = ("2", "3")


def everything():
    machines = sorted(path.stem for path in (pathlib.Path(__file__).resolve().parents[2] / "machines").glob("*.yaml"))
    schedulers = ("lrr", "gto", "two-level", "two-level-active", "swl", "cta-aware", "owl", "ccws", "pro")
    for machine in machines:
        for scheduler in schedulers:
            for program in ("vecadd", "matmul", "reduction", "bfs", "spmv", "histogram", "transpose"):
                yield machine, ("--scheduler", scheduler), program
        yield machine, ("--cta-scheduler", "md"), "bfs"


def without_host(name, data):
    """What of a file must be the same: in the JSON, all but what the host was seen to do."""
    if name != "json":
        return data
    record = json.loads(data)
    record.pop("host")
    for kernel in record["kernels"]:
        kernel.pop("host", None)
    return json.dumps(record).encode()


class Threads(unittest.TestCase):
    def files_of(self, case, threads):
        machine, options, program = case
        with tempfile.TemporaryDirectory() as folder:
            words = [word for name in FILES for word in (f"--{name}", f"{folder}/{name}")]
            done = subprocess.run(
                [TYTO, "run", "--machine", machine, *options, *SAMPLE, "--threads", threads, *words, program,
                 "--size", "test"],
                env=PLAIN, capture_output=True, timeout=SECONDS, check=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            return {name: without_host(name, pathlib.Path(folder, name).read_bytes()) for name in FILES}

    def test_files_do_not_depend_on_the_number_of_threads(self):
        for case in SELECTION if len(sys.argv) < 3 else everything():
            alone = self.files_of(case, "1")
            self.assertGreater(len(alone["csv"]), 100)
            for threads in THREADS if len(sys.argv) < 3 else ("2", "3", "7"):
                together = self.files_of(case, threads)
                for name in FILES:
                    with self.subTest(case=case, threads=threads, file=name):
                        self.assertEqual(alone[name], together[name])

    def test_0_is_as_many_as_there_are_processors(self):
        done = subprocess.run([TYTO, "run", "--threads", "0", "vecadd", "--size", "test"], env=PLAIN,
                              capture_output=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
