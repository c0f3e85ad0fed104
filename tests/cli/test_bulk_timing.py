#!/usr/bin/env python3
"""When bulk copies complete: the start latency of the unit, its requests in flight, and the time of a copy without the
unit.

usage: test_bulk_timing.py TYTO
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import PLAIN  # noqa: E402 (found by the line above)

TYTO = pathlib.Path(sys.argv.pop(1)).resolve()
LINES, LINE_BYTES = 64, 128
# The first thread starts a bulk copy, waits for it, and writes how many cycles passed.
LOAD = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 room[];
.visible .entry load(.param .u64 from, .param .u64 to, .param .u32 bytes) {
    .reg .b64 %a, %b; .reg .b32 %m, %r, %n, %s, %e; .reg .pred %q;
    .shared .align 8 .b64 barrier;
    ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u32 %n, [bytes];
    mov.u32 %m, barrier; mov.u32 %r, room;
    mbarrier.init.shared::cta.b64 [%m], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %n;
    mov.u32 %s, %clock;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r], [%a], %n, [%m];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%m], 0;
    @!%q bra WAIT;
    mov.u32 %e, %clock;
    sub.u32 %e, %e, %s;
    st.global.u32 [%b], %e;
    ret;
}
"""


class BulkTiming(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "load.ptx").write_text(LOAD, encoding="utf-8")
        (self.folder / "bytes").write_bytes(bytes(LINES * LINE_BYTES))

    def load(self, lines, *values):
        """Cycles of the copy, and the launch's counters."""
        settings = [word for value in values for word in ("--set", value)]
        done = subprocess.run([TYTO, "launch", "--quiet", "--machine", "gtx480", *settings, "load.ptx", "--block", "1", "--shared",
                               str(LINES * LINE_BYTES), "--json", "out.json", "--arg", "in:bytes", "--arg", "out:cycles:4",
                               "--arg", f"u32:{lines * LINE_BYTES}"], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=PLAIN, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        kernel = json.loads((self.folder / "out.json").read_text(encoding="utf-8"))["kernels"][0]
        return int.from_bytes((self.folder / "cycles").read_bytes(), "little"), kernel

    def test_a_copy_asks_for_each_line_once(self):
        without, kernel = self.load(LINES)
        read = kernel["reads_sent"]
        self.assertLess(without, 100)
        cycles, kernel = self.load(LINES, "sm.bulk_requests=256")
        self.assertEqual(kernel["reads_sent"], read + LINES)
        self.assertGreater(cycles, 300)
        self.assertEqual((kernel["l1d_load_accesses"], kernel["writes_sent"]), (0, 1))

    def test_the_start_comes_before_the_first_request(self):
        at_once, _ = self.load(1, "sm.bulk_requests=256")
        late, _ = self.load(1, "sm.bulk_requests=256", "sm.bulk_start=700")
        # (the warp checks again when the copy completes: within a few cycles)
        self.assertAlmostEqual(late - at_once, 700, delta=8)

    def test_requests_under_way_are_bounded(self):
        one, _ = self.load(1, "sm.bulk_requests=1")
        in_turn, _ = self.load(8, "sm.bulk_requests=1")
        together, _ = self.load(8, "sm.bulk_requests=8")
        self.assertGreater(in_turn, 5 * one)
        self.assertLess(together, 2 * one)


if __name__ == "__main__":
    unittest.main()
