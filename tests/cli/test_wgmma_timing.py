#!/usr/bin/env python3
"""When warpgroup products complete, and which warps wait for registers that other warps release.

usage: test_wgmma_timing.py TYTO
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import PLAIN  # noqa: E402 (found by the line above)

TYTO = pathlib.Path(sys.argv.pop(1)).resolve()
WARPGROUP, PEAK = 128, 2048  # threads; products of halves per cycle and SM
CORES = (("--code", "ptx"), ("--code", "lowered"), ("--code", "lowered", "--set", "sm.core=classic"))
# The cycles until all is issued and until the wait ends, of the second pass: its instructions are in the caches.
PRODUCTS = """.version 8.8
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 room[];
.visible .entry k(.param .u64 to) {
    .reg .b64 %p, %a, %b; .reg .b32 %t, %s, %e, %m, %i, %o, %d<128>, %x<4>; .reg .pred %q;
    ld.param.u64 %p, [to]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 8, %p;
    mov.u32 %s, room; shr.u32 %s, %s, 4; cvt.u64.u32 %a, %s; or.b64 %a, %a, 0x4000004000010000; mov.b64 %b, %a;
    mov.u32 %x0, 0; mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;
ZEROS
    mov.u32 %o, 2;
AGAIN:
    mov.u32 %i, LOOPS; bar.sync 0; mov.u32 %s, %clock;
    wgmma.fence.sync.aligned;
LOOP:
BODY
    sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra LOOP;
    mov.u32 %m, %clock;
    wgmma.wait_group.sync.aligned PENDING;
    mov.u32 %e, %clock; sub.u32 %e, %e, %s; sub.u32 %m, %m, %s;
    wgmma.wait_group.sync.aligned 0;
    sub.u32 %o, %o, 1; setp.ne.u32 %q, %o, 0; @%q bra AGAIN;
USES
    st.global.v2.b32 [%p], {%m, %e};
    setp.eq.u32 %q, %x0, 127; @%q st.global.b32 [%p], %x0; // never: the sums are needed
    ret;
}
"""
MOVES = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 to) DIRECTIVES {
    .reg .b64 %p; .reg .b32 %t, %w, %s, %e, %n; .reg .pred %q;
    ld.param.u64 %p, [to]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %p; shr.u32 %w, %t, 7;
    setp.eq.u32 %q, %w, 0; mov.u32 %s, %clock;
    @%q bra GIVE;
    setmaxnreg.inc.sync.aligned.u32 88;
    bra DONE;
GIVE: mov.u32 %n, 2000;
WAIT: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra WAIT;
    setmaxnreg.dec.sync.aligned.u32 LEFT;
DONE: mov.u32 %e, %clock; sub.u32 %e, %e, %s; st.global.b32 [%p], %e;
    ret;
}
"""


class WgmmaTiming(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, ptx, words, options, threads=WARPGROUP, shared=65536):
        """The completed process of tyto launch, and the words that the kernel wrote."""
        (self.folder / "k.ptx").write_text(ptx, encoding="utf-8")
        done = subprocess.run([TYTO, "launch", "--quiet", *options, "k.ptx", "--block", str(threads), "--shared",
                               str(shared), "--arg", f"out:words:{4 * words}"], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=PLAIN, timeout=120)
        out = self.folder / "words"
        return done, struct.unpack(f"<{words}I", out.read_bytes()) if done.returncode == 0 else ()

    @staticmethod
    def kernel(shape, types, trailing, loops=8, unroll=4, pending=0, in_registers=False):
        columns = int(shape[4:shape.index("k")])
        sums = columns // 4 if types.startswith("f16") else columns // 2
        names = ", ".join(f"%d{i}" for i in range(sums))
        a = "{%x0, %x1, %x2, %x3}" if in_registers else "%a"
        one = f"    wgmma.mma_async.sync.aligned.{shape}.{types} {{{names}}}, {a}, %b, 1{trailing};\n"
        body = one * unroll + "    wgmma.commit_group.sync.aligned;"
        ptx = PRODUCTS.replace("BODY", body).replace("LOOPS", str(loops)).replace("PENDING", str(pending))
        ptx = ptx.replace("ZEROS", "\n".join(f"    mov.u32 %d{i}, 0;" for i in range(sums)))
        return ptx.replace("USES", "\n".join(f"    add.u32 %x0, %x0, %d{i};" for i in range(sums)))

    def products(self, shape, types, trailing, *counts, options=(), group=WARPGROUP, **named):
        """Cycles of the slowest warp until all was issued, and until the wait ended."""
        done, words = self.launch(self.kernel(shape, types, trailing, *counts, **named), 2 * group, options, group)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return max(words[0::64]), max(words[1::64])

    def test_large_products_reach_nearly_the_peak(self):
        rows = (("m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", 1), ("m64n256k16", "f32.bf16.bf16", ", 1, 1, 0, 0", 1),
                ("m64n256k8", "f32.tf32.tf32", ", 1, 1", 0.5), ("m64n256k32", "f32.e4m3.e4m3", ", 1, 1", 2),
                ("m64n256k32", "s32.s8.s8", "", 2))
        for options in CORES:
            for shape, types, trailing, share in rows:
                loops, unroll = 8, 4
                _, cycles = self.products(shape, types, trailing, loops, unroll, options=options)
                columns, depth = (int(word) for word in shape[4:].split("k"))
                rate = 64 * columns * depth * loops * unroll / cycles / (share * PEAK)
                with self.subTest(options=options, types=types):
                    self.assertGreater(rate, 0.97)
                    self.assertLessEqual(rate, 1)

    def test_two_warpgroups_share_the_peak(self):
        for options in CORES:
            _, cycles = self.products("m64n128k16", "f32.f16.f16", ", 1, 1, 0, 0", group=2 * WARPGROUP, options=options)
            self.assertGreater(2 * 64 * 128 * 16 * 32 / cycles / PEAK, 0.97)

    def test_small_products_wait_for_shared_memory(self):
        # 64 rows of A and 8 columns of B, 32 bytes each, at 128 bytes per cycle; then the columns alone: the
        # multiplications take 4
        for in_registers, each, trailing in ((False, 18, ", 1, 1, 0, 0"), (True, 4, ", 1, 1, 0")):
            few, many = (self.products("m64n8k16", "f32.f16.f16", trailing, loops, 16, options=CORES[0],
                                       in_registers=in_registers)[1] for loops in (4, 8))
            with self.subTest(in_registers=in_registers):
                self.assertGreaterEqual((many - few) / 64, each)
                self.assertLess((many - few) / 64, each + 1)  # the loop's own instructions

    def test_a_group_is_over_the_latency_after_its_last_product(self):
        for options in CORES:
            _, short = self.products("m64n64k16", "f32.f16.f16", ", 1, 1, 0, 0", options=(*options, "--set", "wgmma.latency=5"))
            _, long = self.products("m64n64k16", "f32.f16.f16", ", 1, 1, 0, 0", options=(*options, "--set", "wgmma.latency=305"))
            self.assertEqual(long - short, 300)

    def test_a_warp_goes_on_behind_its_products(self):
        for options in CORES:
            issued, over = self.products("m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", loops=1, unroll=1, options=options)
            with self.subTest(options=options):
                self.assertLess(issued, 60)
                self.assertGreaterEqual(over, 128 + 18)

    def test_a_wait_leaves_the_last_groups_under_way(self):
        for options in CORES:
            _, all_over = self.products("m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", loops=4, unroll=1, options=options)
            _, but_one = self.products("m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", loops=4, unroll=1, pending=1, options=options)
            with self.subTest(options=options):
                self.assertAlmostEqual(all_over - but_one, 128, delta=4)

    def test_products_without_a_rate_are_over_at_once(self):
        _, cycles = self.products("m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", loops=1, unroll=1,
                                  options=(*CORES[0], "--set", "wgmma.fp16=0"))
        self.assertLess(cycles, 60)

    def test_a_matrix_outside_of_shared_memory_is_named(self):
        for code, place in (("ptx", ": wgmma"),) + ((("machine", "HGMMA"),) if shutil.which("ptxas") else ()):
            ptx = self.kernel("m64n8k16", "f32.f16.f16", ", 1, 1, 0, 0")
            done, _ = self.launch(ptx, 2 * WARPGROUP, ("--code", code), shared=4096)
            with self.subTest(code=code):
                self.assertEqual(done.returncode, 1)
                self.assertIn("wgmma reads A at shared address 0x", done.stderr)
                self.assertIn("the matrix descriptor is 0x", done.stderr)
                self.assertIn("kernel k, k.ptx:", done.stderr)
                self.assertIn(place, done.stderr)

    def moves(self, directives, left, options):
        ptx = MOVES.replace("DIRECTIVES", directives).replace("LEFT", str(left))
        return self.launch(ptx, 2 * WARPGROUP, options, 2 * WARPGROUP)

    def test_registers_come_from_other_warps(self):
        for options in CORES:
            done, words = self.moves(".maxntid 256 .minnctapersm 1 .maxnreg 64", 40, options)
            with self.subTest(options=options):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(min(words[128::32]), 2000)

    def test_without_bounds_nothing_moves(self):
        done, words = self.moves("", 40, CORES[0])
        self.assertEqual(done.returncode, 0)
        self.assertLess(max(words[128::32]), 1000)

    def test_registers_that_never_come_are_a_deadlock_by_name(self):
        for options in CORES:
            done, _ = self.moves(".maxnreg 64", 48, (*options, "--set", "watchdog.cycles=20000"))
            with self.subTest(options=options):
                self.assertEqual(done.returncode, 1)
                self.assertIn("deadlock", done.stderr)
                self.assertIn("2 warps waiting for registers that other warps give back before k.ptx:10", done.stderr)


if __name__ == "__main__":
    unittest.main()
