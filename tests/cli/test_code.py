#!/usr/bin/env python3
"""Which code a kernel executes: --code, the machine's preference, and the behaviour without ptxas.

usage: test_code.py TYTO ROOT
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SAXPY = ROOT / "tests" / "cli" / "saxpy.ptx"
# registers and local memory outside of functions, as PTX before 3.0 allows: machine code without an ABI
NO_ABI = """.version 2.3
.target sm_20
.address_size 64
.reg .u32 kept, sum;
.local .align 8 .b8 place[32];
.func add() { .reg .u32 x; ld.local.u32 x, [place+4]; add.u32 sum, sum, x; add.u32 x, x, kept; st.local.u32 [place+4], x; ret; }
.entry k(.param .u64 out)
{ .reg .u64 to, at; .reg .u32 x; .reg .pred p;
  ld.param.u64 to, [out]; mov.u32 x, %tid.x; mul.wide.u32 at, x, 4; add.u64 to, to, at;
  mov.u32 kept, 3; mov.u32 sum, 100; st.local.u32 [place+4], x; setp.lt.u32 p, x, 5;
  call add; @p call add; call add;
  st.global.u32 [to], sum; exit; }
"""
ARGUMENTS = ("--block", "8", "--arg", "u32:8", "--arg", "f32:2", "--arg", "zero:32", "--arg", "zero:32")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
# Two kernels, the second one with an instruction that Tyto lacks, of line 42.
TENSOR_MEMORY = """.version 8.6
.target sm_100a
.address_size 64
.file 1 "k.cu"
.visible .entry fine(.param .u64 to) { .reg .b64 a; .reg .b32 x; ld.param.u64 a, [to]; mov.u32 x, 7; st.global.u32 [a], x; ret; }
.visible .entry tensor(.param .u64 to) {
  .reg .b64 a; .reg .b32 x; .shared .align 16 .b8 room[16];
  ld.param.u64 a, [to];
  mov.u32 x, room;
  .loc 1 42 3
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [x], 32;
  ld.shared.u32 x, [room];
  st.global.u32 [a], x;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 x, 32;
  ret; }
"""
# Writes to the last byte of its dynamic shared memory, and prints its size.
LARGEST = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry largest(.param .u64 to) {
    .reg .b64 %to; .reg .b32 %s<4>; .shared .align 16 .b8 fixed[48];
    ld.param.u64 %to, [to];
    mov.u32 %s0, %dynamic_smem_size;
    mov.u32 %s1, dynamic;
    add.u32 %s1, %s1, %s0;
    st.shared.u32 [%s1 + -4], %s0;
    ld.shared.u32 %s2, [%s1 + -4];
    mov.u32 %s3, fixed;
    st.shared.u32 [%s3], %s2;
    st.global.u32 [%to], %s2;
    ret;
}
"""
LARGEST_SHARED = 227 * 1024  # bytes of a CTA on an H100
NO_PTXAS = {**PLAIN, "PATH": "/usr/bin:/bin"}


class Code(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, *options, environment=PLAIN):
        """The launch's record, and what was printed."""
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

    def test_ptx_for_a_newer_gpu_is_told(self):
        text = self.folder / "k.ptx"
        for target, is_told in (("sm_75", False), ("sm_80", True), ("sm_100", True)):
            text.write_text(f".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n", encoding="utf-8")
            for options in ((), ("--quiet",)):
                done = subprocess.run([TYTO, "launch", text, "--machine", "gtx480", "--functional", *options], check=True, capture_output=True, text=True,
                                      env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
                said = f"k.ptx is PTX for {target}, which a GPU of compute capability 7.5 refuses; it runs here"
                self.assertEqual(said in done.stderr, is_told and not options, done.stderr)

    def test_code_without_an_abi(self):
        text, out = self.folder / "k.ptx", self.folder / "out.bin"
        text.write_text(NO_ABI, encoding="utf-8")
        expected = [100 + (3 * i + 9 if i < 5 else 2 * i + 3) for i in range(8)]
        for code in ("ptx", "lowered") + (("machine",) if shutil.which("ptxas") else ()):
            with self.subTest(code=code):
                subprocess.run([TYTO, "launch", text, "--machine", "h100", "--code", code, "--block", "8", "--arg", f"out:{out}:32"], check=True,
                               capture_output=True, env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
                self.assertEqual(list(struct.unpack("8I", out.read_bytes())), expected)

    def test_a_predicate_among_several_results(self):
        text, out = self.folder / "k.ptx", self.folder / "out.bin"
        text.write_text(""".version 8.0
.target sm_75
.address_size 64
.func (.reg .u32 sum, .reg .pred carry) add(.reg .u32 x, .reg .u32 y) { add.u32 sum, x, y; setp.lt.u32 carry, sum, x; ret; }
.visible .entry k(.param .u64 out) { .reg .pred p; .reg .b32 r<4>; .reg .b64 to; ld.param.u64 to, [out];
  mov.u32 r1, 0xfffffff0; call (r2, p), add, (r1, 0x20); selp.u32 r3, 1, 0, p;
  st.global.u32 [to], r2; st.global.u32 [to+4], r3; ret; }
""", encoding="utf-8")
        for options in ((), ("--functional",), ("--code", "ptx"), ("--code", "machine")):
            with self.subTest(options=options):
                subprocess.run([TYTO, "launch", text, "--machine", "h100", *options, "--arg", f"out:{out}:8"], check=True, capture_output=True,
                               env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
                self.assertEqual(struct.unpack("2I", out.read_bytes()), (16, 1))

    def test_without_ptxas_lowered_ptx_runs_and_is_named(self):
        if shutil.which("ptxas", path=NO_PTXAS["PATH"]):
            self.skipTest("ptxas is in a folder of the system")
        lowered, _ = self.launch("--code", "lowered")
        for options in (("--code", "machine"), ("--set", "sm.instructions=machine")):
            kernel, said = self.launch(*options, environment=NO_PTXAS)
            self.assertIn("no machine code for sm_75: PTX runs instead, as there is no ptxas on the PATH", said)
            self.assertEqual(kernel["code"], "lowered ptx")
            self.assertEqual(kernel["cycles"], lowered["cycles"])

    def test_machine_code_that_does_not_run_is_not_assembled(self):
        kernel, said = self.launch("--machine", "rtx5090", "--compute-capability", "12.1", "--code", "machine")
        self.assertIn("no machine code for sm_121: PTX runs instead, as Tyto does not execute that code", said)
        self.assertEqual(kernel["code"], "lowered ptx")

    @unittest.skipUnless(shutil.which("ptxas"), "there is no ptxas")
    def test_code_that_calls_the_system_runs_as_ptx(self):
        """ptxas compiles tensor copies for sm_120 to calls."""
        text = self.folder / "k.ptx"
        text.write_text(""".version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 map) { .reg .pred p; .reg .b32 to, bar, r; .reg .b64 o, m;
  .shared .align 128 .b8 room[256]; .shared .b64 barrier; ld.param.u64 o, [out]; ld.param.u64 m, [map];
  mov.u32 to, room; mov.u32 bar, barrier; mov.u32 r, 5; st.global.u32 [o], r; setp.eq.u64 p, o, 0;
  @p cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [m, {r}], [bar]; ret; }
""", encoding="utf-8")
        out = self.folder / "out.bin"
        done = subprocess.run([TYTO, "launch", text, "--machine", "rtx5090", "--arg", f"out:{out}:4", "--arg", "u64:0"], check=False,
                              capture_output=True, text=True, env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("PTX runs instead, as it calls __cuda_syscall_cp_async_bulk_tensor_1d_tile_unicast", done.stderr)
        self.assertEqual(struct.unpack("I", out.read_bytes()), (5,))

    @unittest.skipUnless(shutil.which("nvcc"), "there is no nvcc")
    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "nvcc's program has no sanitizer, which the libraries need")
    def test_a_program_for_blackwell_runs(self):
        source = self.folder / "k.cu"
        source.write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaGetLastError() != cudaSuccess; }\n", encoding="utf-8")
        for architecture, code, options in ((120, "[sm_120,compute_120]", ()), (120, "[sm_120,compute_120]", ("--code", "machine")),
                                            (120, "sm_120", ()), (100, "sm_100", ("--compute-capability", "10.0"))):
            with self.subTest(code=code, options=options):
                program = self.folder / "k"
                subprocess.run(["nvcc", "-cudart", "shared", "-gencode", f"arch=compute_{architecture},code={code}", "-o", program, source], check=True,
                               capture_output=True, timeout=300)
                done = subprocess.run([TYTO, "run", "--machine", "rtx5090", *options, program], check=False, capture_output=True, text=True,
                                      env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("ptxas"), "there is no ptxas")
    def test_a_data_center_blackwell_runs_its_code(self):
        kernel, said = self.launch("--machine", "h100", "--compute-capability", "10.0", "--code", "machine")
        self.assertRegex(kernel["code"], r"^sm_100, ptxas \d+\.\d+\.\d+$")
        self.assertNotIn("warning", said)

    @unittest.skipUnless(shutil.which("ptxas"), "there is no ptxas")
    def test_only_the_kernel_with_tensor_memory_is_refused(self):
        text, cubin, out = self.folder / "k.ptx", self.folder / "k.cubin", self.folder / "out.bin"
        text.write_text(TENSOR_MEMORY, encoding="utf-8")
        subprocess.run(["ptxas", "-lineinfo", "-arch=sm_100a", text, "-o", cubin], check=True, timeout=60)
        for kernel, message in (("fine", None), ("tensor", r"kernel tensor cannot run: tensor: /\*[0-9a-f]{4}\*/ .*: not supported: .*, source k\.cu:42\n")):
            with self.subTest(kernel=kernel):
                done = subprocess.run([TYTO, "launch", cubin, "--machine", "h100", "--compute-capability", "10.0", "--kernel", kernel,
                                       "--arg", f"out:{out}:4"], check=False, capture_output=True, text=True, env=PLAIN, timeout=60)
                self.assertEqual(done.returncode, 1 if message else 0, done.stderr)
                if message:
                    self.assertRegex(done.stderr, message)
                else:
                    self.assertEqual(struct.unpack("I", out.read_bytes()), (7,))

    def test_ptxas_makes_machine_code_once(self):
        if not shutil.which("ptxas"):
            self.skipTest("there is no ptxas")
        for options in (("--code", "machine"), ("--functional", "--code", "machine"), ("--set", "sm.instructions=machine")):
            with self.subTest(options=options):
                kernel, said = self.launch(*options)
                self.assertRegex(kernel["code"], r"^sm_75, ptxas \d+\.\d+\.\d+$")
                self.assertNotIn("warning", said)
        self.assertEqual(len(list((self.folder / "tyto" / "cubins").iterdir())), 1)

    def largest(self, code, dynamic):
        """The record of a launch with this much dynamic shared memory, and the value that it wrote."""
        (self.folder / "largest.ptx").write_text(LARGEST, encoding="utf-8")
        done = subprocess.run([TYTO, "launch", "largest.ptx", "--quiet", "--machine", "h100", "--code", code, "--json", "out.json",
                               "--shared", str(dynamic), "--arg", "out:written:4"], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**PLAIN, "XDG_CACHE_HOME": str(self.folder)}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = int.from_bytes((self.folder / "written").read_bytes(), "little")
        return json.loads((self.folder / "out.json").read_text(encoding="utf-8"))["kernels"][0], written

    def test_the_systems_shared_memory_counts_once(self):
        """Machine code has an address for the system's 1,024 bytes; occupancy and limits count them once, for the
        machine."""
        if not shutil.which("ptxas"):
            self.skipTest("there is no ptxas")
        for dynamic, ctas in ((LARGEST_SHARED - 48, 1), (56 * 1024 - 48, 4), (17 * 1024 - 48, 12)):
            for code in ("lowered", "machine"):
                with self.subTest(dynamic=dynamic, code=code):
                    kernel, written = self.largest(code, dynamic)
                    self.assertEqual((kernel["shared_bytes"], kernel["ctas_per_sm"], written), (dynamic + 48, ctas, dynamic))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
