#!/usr/bin/env python3
"""Latency of accesses to another SM, of the cluster barrier, and of arrivals at another thread block's mbarrier.

usage: test_cluster_timing.py TYTO
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
LOADS = 16
# Both thread blocks perform the same operations on each other and write how many cycles passed: for dependent loads, for
# a cluster barrier, and (the second only) until the first has arrived at its mbarrier.
PTX = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to) .reqnctapercluster 2, 1, 1 {{
    .reg .b64 %b, %l; .reg .b32 %s, %m, %r<9>; .reg .pred %q;
    .shared .b32 words[32]; .shared .align 8 .b64 barrier;
    ld.param.u64 %b, [to]; mov.u32 %s, words; mov.u32 %m, barrier;
    mov.u32 %r0, %cluster_ctarank; mul.wide.u32 %l, %r0, 16; add.u64 %b, %b, %l;
    st.shared.u32 [words], 0; mbarrier.init.shared::cta.b64 [%m], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r1, %r0, 1; mapa.shared::cluster.u32 %s, %s, %r1;
    mov.u32 %r3, 0; mov.u32 %r2, 0; mov.u32 %r4, %clock;
LOADS: add.u32 %r5, %s, %r2; ld.volatile.shared::cluster.u32 %r2, [%r5];
    add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, {LOADS}; @%q bra LOADS;
    add.u32 %r2, %r2, 0; mov.u32 %r5, %clock; sub.u32 %r5, %r5, %r4; add.u32 %r5, %r5, %r2; st.global.u32 [%b], %r5;
    mov.u32 %r4, %clock;
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r5, %clock; sub.u32 %r5, %r5, %r4; st.global.u32 [%b+4], %r5;
    mov.u32 %r4, %clock; setp.eq.u32 %q, %r0, 1; @%q bra WAIT;
    mapa.shared::cluster.u32 %r6, %m, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; bra DONE;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%m], 0;
    @!%q bra WAIT;
    mov.u32 %r5, %clock; sub.u32 %r5, %r5, %r4; st.global.u32 [%b+8], %r5;
DONE: barrier.cluster.arrive; barrier.cluster.wait;
    ret;
}}
"""


class ClusterTiming(unittest.TestCase):
    def run_with(self, *values):
        """Cycles of each thread block: loads, barrier, arrival; and the launch's counters."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "k.ptx").write_text(PTX, encoding="utf-8")
            settings = [word for value in values for word in ("--set", value)]
            done = subprocess.run([TYTO, "launch", "--quiet", "--machine", "h100", "--code", "ptx", *settings, "k.ptx", "--grid", "2", "--block", "1",
                                   "--json", "out.json", "--arg", "out:cycles:32"], cwd=folder, capture_output=True, text=True, check=False,
                                  env=PLAIN, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            kernel = json.loads((folder / "out.json").read_text(encoding="utf-8"))["kernels"][0]
            words = (folder / "cycles").read_bytes()
            return [[int.from_bytes(words[at + 4 * i : at + 4 * i + 4], "little") for i in range(3)] for at in (0, 16)], kernel

    def setUp(self):
        # latencies so long that no other work of the warp can hide them
        self.base, self.kernel = self.run_with("sm.remote_latency=200", "sm.cluster_barrier=100")

    def test_the_launch_names_its_clusters(self):
        self.assertEqual(self.kernel["cluster"], [2, 1, 1])

    def test_an_access_takes_the_latency_of_the_other_sm(self):
        slow, _ = self.run_with("sm.remote_latency=500", "sm.cluster_barrier=100")
        for cta in range(2):
            self.assertAlmostEqual(slow[cta][0] - self.base[cta][0], 300 * LOADS, delta=LOADS)

    def test_the_barrier_takes_its_time(self):
        slow, _ = self.run_with("sm.remote_latency=200", "sm.cluster_barrier=500")
        for cta in range(2):
            self.assertEqual(slow[cta][0], self.base[cta][0])
            self.assertAlmostEqual(slow[cta][1] - self.base[cta][1], 400, delta=2)

    def test_an_arrival_counts_when_it_is_acknowledged(self):
        slow, _ = self.run_with("sm.remote_latency=700", "sm.cluster_barrier=100")
        self.assertAlmostEqual(slow[1][2] - self.base[1][2], 500, delta=16)
        self.assertGreater(self.base[1][2], 10)

    def test_thread_blocks_share_an_sm_where_their_group_has_no_other(self):
        alone, _ = self.run_with("sm.remote_latency=500", "sm.cluster_barrier=100", "gpu.sms=1", "gpu.gpcs=0", "noc.sms_per_port=1")
        # the network leads back to the same SM
        self.assertAlmostEqual(alone[0][0] - self.base[0][0], 300 * LOADS, delta=4 * LOADS)


if __name__ == "__main__":
    unittest.main()
