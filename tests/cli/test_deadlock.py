#!/usr/bin/env python3
"""Kernels that wait for something that cannot happen end as deadlocks; the message names what they wait for.

usage: test_deadlock.py TYTO
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import thinned  # noqa: E402 (found by the line above)

TYTO = pathlib.Path(sys.argv[1]).resolve()
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
# every thread arrives at an mbarrier that expects all of them, and polls for the end of the phase
PHASE = """.visible .entry k(.param .u64 out) {
.shared .align 8 .b64 barrier; .reg .b32 tid, all, at; .reg .b64 state; .reg .pred p;
mov.u32 tid, %tid.x; mov.u32 all, %ntid.x; mov.u32 at, barrier;
setp.ne.u32 p, tid, 0; @p bra ready; mbarrier.init.shared.b64 [at], all;
ready: bar.sync 0; mbarrier.arrive.shared.b64 state, [at];
again: mbarrier.test_wait.shared.b64 p, [at], state; @!p bra again; ret; }
"""
# the first two warps poll for a value that the third stores
FLAG = """.visible .entry k(.param .u64 out) {
.shared .align 4 .b32 flag; .reg .b32 tid, at, seen; .reg .pred p;
mov.u32 tid, %tid.x; mov.u32 at, flag; setp.eq.u32 p, tid, 0; @p st.volatile.shared.u32 [at], 0; bar.sync 0;
setp.ge.u32 p, tid, 64; @p bra store;
again: ld.volatile.shared.u32 seen, [at]; setp.eq.u32 p, seen, 0; @p bra again; ret;
store: st.volatile.shared.u32 [at], 1; ret; }
"""
# a barrier across all CTAs
GRID = """.visible .entry k(.param .u64 count) {
.reg .b32 n, all; .reg .b64 at; .reg .pred p;
ld.param.u64 at, [count]; mov.u32 all, %nctaid.x; atom.global.add.u32 n, [at], 1;
again: ld.volatile.global.u32 n, [at]; setp.lt.u32 p, n, all; @p bra again; ret; }
"""


class Deadlock(unittest.TestCase):
    def launch(self, text, *options, machine="gtx480", code="ptx"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "k.ptx"
            file.write_text(HEADER + text, encoding="utf-8")
            return subprocess.run([TYTO, "launch", file, "--machine", machine, "--code", code, "--quiet", "--arg", "zero:1024", *options], capture_output=True,
                                  text=True, check=False, timeout=60)

    def test_a_policy_that_lets_no_other_warp_arrive(self):
        done = self.launch(PHASE, "--block", "96", "--scheduler", "swl:limit=1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the policy lets no other warp issue", done.stderr)
        self.assertIn("held back by the policy before", done.stderr)
        for options in (("--scheduler", "swl:limit=3"), ("--scheduler", "gto")):
            self.assertEqual(self.launch(PHASE, "--block", "96", *options).returncode, 0)

    def test_a_wait_at_an_mbarrier_lets_the_rest_of_the_cta_issue(self):
        """mbarrier.try_wait holds its warp, as a CTA barrier does, and the policy sees it."""
        waits = PHASE.replace("mbarrier.test_wait", "mbarrier.try_wait")
        for machine in ("gtx480", "a100"):
            done = self.launch(waits, "--block", "96", "--scheduler", "swl:limit=1", "--set", "gpu.sms=1", machine=machine)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("ptxas"), "no ptxas")
    def test_machine_code_that_does_not_say_what_is_volatile(self):
        for machine in thinned(("h100", "rtx3070")):
            for text in (PHASE, FLAG):
                done = self.launch(text, "--block", "96", "--scheduler", "swl:limit=1", "--set", "gpu.sms=1", machine=machine, code="machine")
                self.assertNotEqual(done.returncode, 0, machine)
                self.assertIn("the policy lets no other warp issue", done.stderr, machine)
                done = self.launch(text, "--block", "96", machine=machine, code="machine")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_grid_of_which_one_block_waits_for_room(self):
        done = self.launch(GRID, "--grid", "121")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("CTA 120 of 121 waits for room: 120 are on the machine", done.stderr.splitlines()[1])
        self.assertEqual(self.launch(GRID, "--grid", "120").returncode, 0)

    def test_a_deadlock_of_resident_blocks_names_no_other_cause(self):
        done = self.launch(GRID.replace("%nctaid.x", "2"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("all warps wait at barriers or in loops", done.stderr)
        self.assertNotIn("waits for room", done.stderr)
        self.assertNotIn("the host", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
