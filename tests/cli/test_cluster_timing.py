#!/usr/bin/env python3
"""Latency of accesses to another SM, of the cluster barrier, and of arrivals at another thread block's mbarrier; and the time of
multicast copies at each destination.

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

COPY_BYTES = 8192
COPY_CYCLES = COPY_BYTES // 32  # an SM takes 32 bytes a cycle
# The first `senders` of four thread blocks copy to themselves and to the thread blocks of the mask, which do not send. Each writes
# the cycles until its copies had arrived. The second round finds all data in L2.
MULTICAST_PTX = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to, .param .u64 from, .param .u32 senders, .param .u32 mask) .reqnctapercluster 4, 1, 1 {{
    .reg .b64 %b, %f, %l; .reg .b32 %m, %r<9>; .reg .b16 %h; .reg .pred %q, %s;
    .shared .align 128 .b8 room[{3 * COPY_BYTES}]; .shared .align 8 .b64 barrier;
    ld.param.u64 %b, [to]; ld.param.u64 %f, [from]; ld.param.u32 %r1, [senders]; ld.param.u32 %r2, [mask];
    mov.u32 %m, barrier; mov.u32 %r0, %cluster_ctarank; setp.lt.u32 %s, %r0, %r1;
    mul.wide.u32 %l, %r0, 4; add.u64 %b, %b, %l; mul.wide.u32 %l, %r0, {COPY_BYTES}; add.u64 %f, %f, %l;
    shr.u32 %r3, %r2, %r0; and.b32 %r3, %r3, 1; mul.lo.u32 %r3, %r3, %r1; selp.u32 %r3, 1, %r3, %s;
    mul.lo.u32 %r3, %r3, {COPY_BYTES};
    mov.u32 %r4, 1; shl.b32 %r4, %r4, %r0; or.b32 %r4, %r4, %r2; cvt.u16.u32 %h, %r4;
    mov.u32 %r5, room; mad.lo.u32 %r5, %r0, {COPY_BYTES}, %r5;
    mbarrier.init.shared::cta.b64 [%m], 1; fence.mbarrier_init.release.cluster; mov.u32 %r6, 0;
ROUND: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %r3;
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r7, %clock;
    @%s cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r5], [%f], {COPY_BYTES}, [%m], %h;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%m], %r6; @!%q bra WAIT;
    mov.u32 %r8, %clock; sub.u32 %r8, %r8, %r7; st.global.u32 [%b], %r8;
    barrier.cluster.arrive; barrier.cluster.wait;
    add.u32 %r6, %r6, 1; setp.lt.u32 %q, %r6, 2; @%q bra ROUND;
    ret;
}}
"""


def launch(ptx, settings, ctas, args, outputs):
    """Runs a kernel of one-thread blocks on h100; returns the words of its output, and the launch's results."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k.ptx").write_text(ptx, encoding="utf-8")
        words = [word for value in settings for word in ("--set", value)] + [word for arg in args for word in ("--arg", arg)]
        done = subprocess.run([TYTO, "launch", "--quiet", "--machine", "h100", "--code", "ptx", "k.ptx", "--grid", str(ctas), "--block", "1",
                               "--json", "out.json", *words], cwd=folder, capture_output=True, text=True, check=False, env=PLAIN, timeout=60)
        if done.returncode or done.stderr:
            raise AssertionError(done.stderr)
        kernel = json.loads((folder / "out.json").read_text(encoding="utf-8"))["kernels"][0]
        found = (folder / "cycles").read_bytes()
        return [int.from_bytes(found[4 * i : 4 * i + 4], "little") for i in range(outputs)], kernel


class Multicast(unittest.TestCase):
    def run_with(self, senders, mask):
        return launch(MULTICAST_PTX, [], 4, ["out:cycles:16", f"zero:{3 * COPY_BYTES}", f"u32:{senders}", f"u32:{mask}"], 4)

    def test_the_data_are_not_earlier_elsewhere(self):
        cycles, _ = self.run_with(1, 0b1110)
        for peer in range(1, 4):
            self.assertGreater(cycles[peer], cycles[0])
            self.assertLess(cycles[peer], cycles[0] + 16)

    def test_the_data_are_read_once(self):
        alone, kernel = self.run_with(1, 0)
        to_all, same = self.run_with(1, 0b1110)
        self.assertGreater(alone[0], COPY_CYCLES)
        self.assertAlmostEqual(to_all[0], alone[0], delta=4)
        for counter in ("l2_reads", "reads_sent"):
            self.assertEqual(same[counter], kernel[counter])

    def test_an_sm_takes_32_bytes_a_cycle_from_others(self):
        one, _ = self.run_with(1, 0b1000)
        three, _ = self.run_with(3, 0b1000)
        self.assertGreater(three[3], 3 * COPY_CYCLES)
        self.assertAlmostEqual(three[3] - one[3], 2 * COPY_CYCLES, delta=32)
        # the senders share the port evenly
        self.assertLess(max(three[:3]) - min(three[:3]), 16)
        self.assertLess(max(three[:3]), three[3])


class ClusterTiming(unittest.TestCase):
    def run_with(self, *values):
        """Cycles of each thread block: loads, barrier, arrival; and the launch's counters."""
        words, kernel = launch(PTX, values, 2, ["out:cycles:32"], 8)
        return [words[:3], words[4:7]], kernel

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
