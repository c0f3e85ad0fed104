#!/usr/bin/env python3
"""Which code a kernel executes: --code, the machine's preference, and what happens without ptxas.

usage: test_code.py TYTO ROOT
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SAXPY = ROOT / "tests" / "cli" / "saxpy.ptx"
ARGUMENTS = ("--block", "8", "--arg", "u32:8", "--arg", "f32:2", "--arg", "zero:32", "--arg", "zero:32")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
NO_PTXAS = {**PLAIN, "PATH": "/usr/bin:/bin"}


class Code(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, *options, environment=PLAIN):
        """The launch's record and what was printed."""
        out = self.folder / "out.json"
        done = subprocess.run([TYTO, "launch", SAXPY, "--machine", "gtx480", "--json", out, *options, *ARGUMENTS], capture_output=True, text=True, check=False,
                              env={**environment, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text(encoding="utf-8"))["kernels"][0], done.stderr

    def test_machine_and_option_choose(self):
        for options, code in (((), "ptx"), (("--machine", "v100"), "lowered ptx"), (("--machine", "v100", "--code", "ptx"), "ptx"),
                              (("--code", "lowered"), "lowered ptx"), (("--functional",), "ptx"), (("--machine", "h100", "--functional"), "ptx")):
            with self.subTest(options=options):
                kernel, said = self.launch(*options)
                self.assertEqual(kernel["code"], code)
                self.assertEqual(", code " in said, code != "ptx")

    def test_without_ptxas_lowered_ptx_runs_and_is_named(self):
        if shutil.which("ptxas", path=NO_PTXAS["PATH"]):
            self.skipTest("ptxas is in a folder of the system")
        lowered, _ = self.launch("--code", "lowered")
        for options in (("--code", "machine"), ("--set", "sm.instructions=machine")):
            kernel, said = self.launch(*options, environment=NO_PTXAS)
            self.assertIn("there is no machine code for sm_75: PTX runs instead, as there is no ptxas on the PATH", said)
            self.assertEqual(kernel["code"], "lowered ptx")
            self.assertEqual(kernel["cycles"], lowered["cycles"])

    def test_ptxas_makes_machine_code_once(self):
        if not shutil.which("ptxas"):
            self.skipTest("there is no ptxas")
        for options in (("--code", "machine"), ("--functional", "--code", "machine"), ("--set", "sm.instructions=machine")):
            with self.subTest(options=options):
                kernel, said = self.launch(*options)
                self.assertRegex(kernel["code"], r"^sm_75, ptxas \d+\.\d+\.\d+$")
                self.assertNotIn("warning", said)
        self.assertEqual(len(list((self.folder / "tyto" / "cubins").iterdir())), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
