#!/usr/bin/env python3
"""Every file of a run is the same, byte for byte, for any number of host threads that step the SMs.

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
from tyto_runs import SEVEN, Tyto, hear_signals  # noqa: E402 (found by the line above)

hear_signals()
TYTO = Tyto(sys.argv[1])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 600
FILES = ("json", "csv", "ctas", "timeline", "policies", "record-l1d", "profile-json")
SAMPLE = ("--sample", "500")
PROGRAMS = ("histogram", "bfs", "reduction", "matmul", "spmv")  # their SMs often access the same memory
THREADS = ("2", "3")


def options_of(warp, cta, dram):
    return ("--scheduler", warp, "--cta-scheduler", cta, "--set", f"dram.scheduler={dram}")


def selection():
    """Machine, options and program of runs; together they use every machine and every scheduler at least once."""
    warps, ctas = TYTO.schedulers()
    lists = TYTO.machines(), warps, ctas, TYTO.dram_schedulers(), PROGRAMS
    for place in range(max(map(len, lists))):
        machine, warp, cta, dram, program = (each[place % len(each)] for each in lists)
        yield machine, options_of(warp, cta, dram), program


def everything():
    """The same for every machine under every scheduler, with more programs."""
    warps, ctas = TYTO.schedulers()
    for machine in TYTO.machines():
        for warp in warps:
            for program in SEVEN:
                yield machine, ("--scheduler", warp), program
        for cta in ctas:
            for dram in TYTO.dram_schedulers():
                yield machine, options_of("gto", cta, dram), "bfs"


def without_host(name, data):
    """The part of a file that must be the same: in JSON, everything but the measurements of the host."""
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
                [TYTO.command, "run", "--machine", machine, *options, *SAMPLE, "--threads", threads, *words, program,
                 "--size", "test"],
                env=PLAIN, capture_output=True, timeout=SECONDS, check=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            return {name: without_host(name, pathlib.Path(folder, name).read_bytes()) for name in FILES}

    def test_files_do_not_depend_on_the_number_of_threads(self):
        for case in selection() if len(sys.argv) < 3 else everything():
            alone = self.files_of(case, "1")
            self.assertGreater(len(alone["csv"]), 100)
            for threads in THREADS if len(sys.argv) < 3 else ("2", "3", "7"):
                together = self.files_of(case, threads)
                for name in FILES:
                    with self.subTest(case=case, threads=threads, file=name):
                        self.assertEqual(alone[name], together[name])

    def test_0_is_as_many_as_there_are_processors(self):
        done = subprocess.run([TYTO.command, "run", "--threads", "0", "vecadd", "--size", "test"], env=PLAIN,
                              capture_output=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
