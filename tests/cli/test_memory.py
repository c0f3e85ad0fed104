#!/usr/bin/env python3
"""Host memory of a run on a machine of 80 SMs with two threads.

usage: test_memory.py TYTO
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TYTO = pathlib.Path(sys.argv.pop(1)).resolve()
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
BOUND_BYTES = 500e6


class Memory(unittest.TestCase):
    def test_a_machine_of_80_sms_takes_less_than_500_mb(self):
        for machine in ("qv100", "v100"):
            for program in ("matmul", "spmv"):
                with self.subTest(machine=machine, program=program), tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "run.json"
                    subprocess.run([TYTO, "run", "--machine", machine, "--threads", "2", "--quiet", "--json", path, program,
                                    "--size", "test"], env=PLAIN, check=True, capture_output=True, timeout=300)
                    peak = json.loads(path.read_text(encoding="utf-8"))["host"]["peak_memory_bytes"]
                    self.assertGreater(peak, 1e6)
                    self.assertLess(peak, BOUND_BYTES)


unittest.main(verbosity=0)
