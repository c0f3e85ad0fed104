#!/usr/bin/env python3
"""Kernels in the form in which Triton writes PTX.

Inline assembly has scalar accesses in braces and masks as guards. Reductions use shuffles, the size of asynchronous
copies is the mask, and products of matrices use fragments.

usage: test_triton.py TYTO
"""
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TYTO = pathlib.Path(sys.argv[1]).resolve()
THREADS = 32
HEADER = """.version 8.4
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry kernel(.param .u64 .ptr .global .align 1 param_0, .param .u64 .ptr .global .align 1 param_1, .param .u32 param_2)
.reqntid 32, 1, 1
{
	.reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<16>;
	.loc 1 5 0
$L__func_begin0:
	ld.param.u64 %rd1, [param_0]; ld.param.u64 %rd2, [param_1]; ld.param.u32 %r1, [param_2];
	mov.u32 %r2, %tid.x; setp.lt.s32 %p1, %r2, %r1;
	mul.wide.s32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
"""
FOOTER = """	ret;
$L__tmp0:
$L__func_end0:
}
	.file 1 "kernel.py"
	.section .debug_abbrev
	{
.b8 1
	}
"""
LOAD = """	// begin inline asm
	mov.u32 %r3, 0x0;
	@%p1 ld.global.b32 { %r3 }, [ %rd4 + 0 ];
	// end inline asm
	mov.b32 %f1, %r3;
"""
STORE = """	mov.b32 %r4, %f2;
	// begin inline asm
	@%p1 st.global.b32 [ %rd5 + 0 ], { %r4 };
	// end inline asm
"""


def reduction(operation, value, into):
    """Combines the values of all lanes with butterfly shuffles."""
    lines = [f"	mov.f32 {into}, {value};"]
    for distance in (16, 8, 4, 2, 1):
        lines.append(f"	mov.b32 %r10, {into}; shfl.sync.bfly.b32 %r11, %r10, {distance}, 31, -1; mov.b32 %f20, %r11; {operation} {into}, {into}, %f20;")
    return "\n".join(lines) + "\n"


SOFTMAX = reduction("max.f32", "%f1", "%f3") + """	sub.f32 %f4, %f1, %f3; mul.f32 %f5, %f4, 0f3FB8AA3B;
	// begin inline asm
	ex2.approx.ftz.f32 %f6, %f5;
	// end inline asm
""" + reduction("add.f32", "%f6", "%f7") + "	div.full.f32 %f2, %f6, %f7;\n"
LAYER_NORM = reduction("add.f32", "%f1", "%f3") + "	mul.f32 %f4, %f3, 0f3D000000; sub.f32 %f5, %f1, %f4; mul.f32 %f6, %f5, %f5;\n" + \
    reduction("add.f32", "%f6", "%f7") + "	fma.rn.f32 %f8, %f7, 0f3D000000, 0f3727C5AC; rsqrt.approx.ftz.f32 %f9, %f8; mul.f32 %f2, %f5, %f9;\n"
VECTOR = """	shl.b32 %r5, %r2, 4; cvt.u64.u32 %rd6, %r5; add.s64 %rd4, %rd1, %rd6; add.s64 %rd5, %rd2, %rd6;
	mov.u32 %r6, 0x0; mov.u32 %r7, 0x0; mov.u32 %r8, 0x0; mov.u32 %r9, 0x0;
	// begin inline asm
	createpolicy.fractional.L2::evict_last.b64 %rd7, 1.0;
	@%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 { %r6, %r7, %r8, %r9 }, [ %rd4 + 0 ], %rd7;
	@%p1 st.global.v4.b32 [ %rd5 + 0 ], { %r9, %r8, %r7, %r6 };
	// end inline asm
"""
ATOMIC = LOAD + """	// begin inline asm
	@%p1 atom.global.gpu.acq_rel.add.f32 %f2, [ %rd2 + 0 ], %f1;
	// end inline asm
"""
ASYNC = """	mov.u32 %r5, global_smem; shl.b32 %r6, %r2, 2; add.s32 %r7, %r5, %r6; selp.b32 %r8, 4, 0, %p1;
	// begin inline asm
	cp.async.ca.shared.global [ %r7 + 0 ], [ %rd4 + 0 ], 0x4, %r8;
	// end inline asm
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.sync 0;
	xor.b32 %r9, %r6, 4; add.s32 %r10, %r5, %r9;
	// begin inline asm
	ld.shared.b32 { %r3 }, [ %r10 + 0 ];
	st.global.b32 [ %rd5 + 0 ], { %r3 };
	// end inline asm
"""
SHARED = LOAD + """	mov.u32 %r5, global_smem; shl.b32 %r6, %r2, 2; add.s32 %r7, %r5, %r6; mov.pred %p2, -1;
	// begin inline asm
	@%p2 st.shared.b32 [ %r7 + 0 ], { %r3 };
	// end inline asm
	bar.sync 0;
	sub.s32 %r8, 124, %r6; add.s32 %r9, %r5, %r8; ld.shared.f32 %f2, [%r9];
"""
HALVES = """	shl.b32 %r5, %r2, 1; cvt.u64.u32 %rd6, %r5; add.s64 %rd4, %rd1, %rd6; add.s64 %rd5, %rd2, %rd6; mov.u16 %rs1, 0x0;
	// begin inline asm
	@%p1 ld.global.b16 { %rs1 }, [ %rd4 + 0 ];
	// end inline asm
	cvt.f32.f16 %f1, %rs1; add.f32 %f2, %f1, %f1; cvt.rn.f16.f32 %rs2, %f2;
	// begin inline asm
	@%p1 st.global.b16 [ %rd5 + 0 ], { %rs2 };
	// end inline asm
"""
# A (16 x 16, by rows) and B (16 x 8, by columns) of halves, one after the other; C (16 x 8) of floats
PRODUCT = """	shr.u32 %r5, %r2, 2; and.b32 %r6, %r2, 3; shl.b32 %r7, %r5, 5; shl.b32 %r8, %r6, 2; add.s32 %r9, %r7, %r8;
	cvt.u64.u32 %rd6, %r9; add.s64 %rd7, %rd1, %rd6;
	ld.global.b32 { %r20 }, [ %rd7 + 0 ]; ld.global.b32 { %r21 }, [ %rd7 + 256 ]; ld.global.b32 { %r22 }, [ %rd7 + 16 ];
	ld.global.b32 { %r23 }, [ %rd7 + 272 ]; ld.global.b32 { %r24 }, [ %rd7 + 512 ]; ld.global.b32 { %r25 }, [ %rd7 + 528 ];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %f10, %f11, %f12, %f13 }, { %r20, %r21, %r22, %r23 }, { %r24, %r25 },
		{ 0f00000000, 0f00000000, 0f00000000, 0f00000000 };
	shl.b32 %r10, %r6, 3; add.s32 %r11, %r7, %r10; cvt.u64.u32 %rd8, %r11; add.s64 %rd9, %rd2, %rd8;
	st.global.v2.f32 [%rd9], {%f10, %f11}; st.global.v2.f32 [%rd9+256], {%f12, %f13};
"""
# a query of 4, then 32 keys of 4, then 32 values: the mean of the values weighted by the softmax of the products
ATTENTION = """	mov.pred %p1, -1; shl.b32 %r5, %r2, 4; cvt.u64.u32 %rd6, %r5; add.s64 %rd7, %rd1, %rd6;
	ld.global.v4.f32 {%f30, %f31, %f32, %f33}, [%rd1]; ld.global.v4.f32 {%f34, %f35, %f36, %f37}, [%rd7+16];
	mul.f32 %f38, %f30, %f34; fma.rn.f32 %f39, %f31, %f35, %f38; fma.rn.f32 %f40, %f32, %f36, %f39; fma.rn.f32 %f1, %f33, %f37, %f40;
""" + SOFTMAX + """	ld.global.f32 %f41, [%rd4+528]; mul.f32 %f42, %f2, %f41;
""" + reduction("add.f32", "%f42", "%f2")


def floats(values):
    return struct.pack(f"{len(values)}f", *values)


class Triton(unittest.TestCase):
    def run_kernel(self, body, data, out_bytes, count=THREADS):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "k.ptx").write_text(HEADER + body + FOOTER, encoding="utf-8")
            (folder / "in").write_bytes(data)
            results = []
            for options in (("--functional",), ("--machine", "a100", "--code", "lowered")):
                done = subprocess.run([TYTO, "launch", "k.ptx", *options, "--quiet", "--block", str(THREADS), "--shared", "1024", "--arg", "in:in",
                                       "--arg", f"out:out:{out_bytes}", "--arg", f"u32:{count}"], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                results.append((folder / "out").read_bytes())
        self.assertEqual(*results)
        return results[0]

    def check(self, body, values, expected, count=THREADS, places=5):
        got = struct.unpack(f"{len(expected)}f", self.run_kernel(body, floats(values), 4 * len(expected), count))
        for at, (one, other) in enumerate(zip(got, expected)):
            self.assertAlmostEqual(one, other, places, f"element {at}")

    def test_masked_copy(self):
        values = [float(i) for i in range(THREADS)]
        self.check(LOAD + "	mov.f32 %f2, %f1;\n" + STORE, values, values[:20] + [0.0] * 12, 20)

    def test_scale(self):
        values = [i - 7.5 for i in range(THREADS)]
        self.check(LOAD + "	fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;\n" + STORE, values, [2 * v + 1 for v in values])

    def test_vectors_with_a_cache_hint(self):
        values = [float(i) for i in range(4 * THREADS)]
        self.check(VECTOR, values, [values[i // 4 * 4 + 3 - i % 4] if i < 80 else 0.0 for i in range(4 * THREADS)], 20)

    def test_softmax(self):
        values = [math.sin(i) * 3 for i in range(THREADS)]
        total = sum(math.exp(v) for v in values)
        self.check(LOAD + SOFTMAX + STORE, values, [math.exp(v) / total for v in values])

    def test_layer_norm(self):
        values = [math.cos(i * 2) * 5 + 1 for i in range(THREADS)]
        mean = sum(values) / THREADS
        variance = sum((v - mean) ** 2 for v in values) / THREADS
        self.check(LOAD + LAYER_NORM + STORE, values, [(v - mean) / math.sqrt(variance + 1e-5) for v in values])

    def test_atomic_sum(self):
        self.check(ATOMIC, [float(i) for i in range(THREADS)], [sum(range(20))], 20)

    def test_asynchronous_copy_with_a_mask(self):
        values = [float(i + 1) for i in range(THREADS)]
        self.check(ASYNC, values, [values[i ^ 1] if i ^ 1 < 20 else 0.0 for i in range(THREADS)], 20)

    def test_exchange_through_shared_memory(self):
        values = [float(i) for i in range(THREADS)]
        self.check(SHARED + STORE, values, values[::-1])

    def test_halves(self):
        data = struct.pack("32e", *(i / 4 for i in range(THREADS)))
        self.assertEqual(struct.unpack("32e", self.run_kernel(HALVES, data, 64, 20)), tuple(i / 2 if i < 20 else 0 for i in range(THREADS)))

    def test_product_of_matrices(self):
        a = [[(i * 3 + j) % 7 - 3 for j in range(16)] for i in range(16)]
        b = [[(i + 5 * j) % 5 - 2 for j in range(8)] for i in range(16)]
        data = struct.pack("384e", *(v for row in a for v in row), *(b[i][j] for j in range(8) for i in range(16)))
        got = struct.unpack("128f", self.run_kernel(PRODUCT, data, 512))
        self.assertEqual(got, tuple(float(sum(a[i][k] * b[k][j] for k in range(16))) for i in range(16) for j in range(8)))

    def test_attention(self):
        query, keys = [0.5, -1, 0.25, 2], [[math.sin(i + j) for j in range(4)] for i in range(THREADS)]
        values = [float(i % 5) for i in range(THREADS)]
        weights = [math.exp(sum(q * k for q, k in zip(query, key))) for key in keys]
        mean = sum(w * v for w, v in zip(weights, values)) / sum(weights)
        self.check(ATTENTION + STORE, query + [k for key in keys for k in key] + values, [mean] * THREADS, places=4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
