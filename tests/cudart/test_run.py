#!/usr/bin/env python3
"""Programs built by plain nvcc, under `tyto run` without further settings.

usage: test_run.py TYTO NVCC PROGRAMS

PROGRAMS is the folder of our CUDA programs.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TYTO, NVCC, PROGRAMS = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith("TYTO_") and key != "LD_LIBRARY_PATH"}

TWO_KERNELS = r"""
#include <cstdio>
__global__ void first() {}
__global__ void second(int *p) { *p = 5; }
int main(int count, char **words) {
    int value, *p;
    cudaMalloc(&p, 4);
    first<<<1, 1>>>();
    second<<<1, 1>>>(p);
    cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %s\n", value, words[1]);
    return 40 + count;
}
"""

NAMED_KERNELS = r"""
#include <cstdio>
__global__ void single(int *p) { p[0] = 1; }
namespace space { __global__ void plain(int *p) { p[1] = 2; } }
template <typename T> __global__ void twice(int *p, T x) { p[(int)x] = 1 + (int)x; }
int main() {
    int out[4], *p;
    cudaMalloc(&p, sizeof out);
    single<<<1, 1>>>(p);
    space::plain<<<1, 1>>>(p);
    twice<<<1, 1>>>(p, 2.0f);
    twice<<<1, 1>>>(p, 3);
    cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
}
"""

# mistakes of a program, and features that the simulator lacks: each is reported, and a wait does not hide it
MISTAKES = r"""
#include <cstdio>
__global__ void several(int *p) { asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(p)); p[0] = 1; }
__global__ void plain(int *p) { p[0] = 2; }
#define SAY(call) printf(#call " %s\n", cudaGetErrorName(call))
int main() {
    int x = 5, *p;
    static int host;
    cudaMalloc(&p, 4);
    SAY(cudaMemcpyToSymbol(host, &x, 4));
    SAY(cudaMemcpyToSymbol(host, &x, 4));
    SAY(cudaSetDevice(1));
    SAY(cudaSetDevice(2));
    cudaGetLastError();
    several<<<1, 1>>>(p);
    SAY(cudaDeviceSynchronize());
    SAY(cudaStreamSynchronize(0));
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    plain<<<1, 1>>>(p);
    SAY(cudaDeviceSynchronize());
    plain<<<1, 1>>>((int *)8);
    SAY(cudaDeviceSynchronize());
}
"""

# stream 1 waits for work that stream 2 would do later
BEHIND = r"""
#include <cstdio>
__global__ void look(volatile int *flag) { while (!*flag) {} }
__global__ void set(volatile int *flag) { *flag = 1; }
int main() {
    int *flag;
    cudaStream_t one, two;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    look<<<1, 1, 0, one>>>(flag);
    std::puts(cudaGetErrorName(cudaStreamSynchronize(one)));
    set<<<1, 1, 0, two>>>(flag);
}
"""
# on a GPU, the host would answer this kernel
ANSWERED = r"""
#include <cstdio>
__global__ void ask(volatile int *p) { while (p[0] == 0); }
int main() {
    int *host, *device;
    cudaHostAlloc(&host, 4, cudaHostAllocMapped);
    *host = 0;
    cudaHostGetDevicePointer(&device, host, 0);
    ask<<<1, 1>>>(device);
    *(volatile int *)host = 1;
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""

FORK = r"""
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
__global__ void kernel() {}
int main() {
    if (fork() == 0) { /* before CUDA: the child has its own */
        kernel<<<1, 1>>>();
        _exit(cudaDeviceSynchronize());
    }
    int early, late;
    wait(&early);
    kernel<<<1, 1>>>();
    if (fork() == 0) _exit(cudaFree(0));
    wait(&late);
    printf("%d %d %d\n", WEXITSTATUS(early), WEXITSTATUS(late), cudaDeviceSynchronize());
    return 0;
}
"""

OTHER_FILE = "__device__ int shared_count = 7;\n__device__ int square(int x) { return x * x; }\n"
TRANSFORMS = r"""
#include <cufftw.h>
int main() {
    static fftw_complex line[64];
    void *started;
    cudaMalloc(&started, 4);
    return fftw_plan_dft_1d(64, line, line, FFTW_FORWARD, FFTW_ESTIMATE) != NULL;
}
"""
MANY_REGISTERS = r"""
__global__ void __launch_bounds__(256) many(float *x) {
    float r[96];
    for (int i = 0; i < 96; i++) r[i] = x[threadIdx.x + 256 * i];
    __syncthreads();
    for (int i = 0; i < 96; i++) x[threadIdx.x + 256 * i] = r[95 - i];
}
int main() {
    float *x, out[256 * 96];
    for (int i = 0; i < 256 * 96; i++) out[i] = i;
    cudaMalloc(&x, sizeof out);
    cudaMemcpy(x, out, sizeof out, cudaMemcpyHostToDevice);
    many<<<1, 256>>>(x);
    many<<<1, 256>>>(x);
    many<<<1, 256>>>(x);
    cudaMemcpy(out, x, sizeof out, cudaMemcpyDeviceToHost);
    return out[7] == 95 * 256 + 7 ? 0 : 1;
}
"""
SHARED_MEMORY = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
    cudaDeviceProp device;
    int reserved = -1, ctas = -1;
    cudaGetDeviceProperties(&device, 0);
    cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0);
    cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, device.sharedMemPerBlockOptin);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, nothing, 32, 10 << 10);
    printf("%zu %zu %zu %zu %d %d\n", device.sharedMemPerMultiprocessor, device.sharedMemPerBlock,
           device.sharedMemPerBlockOptin, device.reservedSharedMemPerBlock, reserved, ctas);
}
"""
REGISTERED = r"""
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
__global__ void put(int *p) { p[5] = 1; }
int main(int, char **words) {
    int what = atoi(words[1]);
    int *page = (int *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (what) cudaHostRegister(page, 4096, what == 1 ? cudaHostRegisterReadOnly : cudaHostRegisterMapped);
    if (what == 2) munmap(page, 4096);
    put<<<1, 1>>>(page);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    if (what == 2) puts(cudaGetErrorName(cudaHostRegister(page + 1024, 4096, 0)));
}
"""

MAIN_FILE = r"""
#include <cstdio>
extern __device__ int shared_count;
__device__ int square(int x);
__global__ void kernel(int *p) { p[threadIdx.x] = square(threadIdx.x) + shared_count; }
int main() {
    int out[4], *p;
    cudaMalloc(&p, sizeof out);
    kernel<<<1, 4>>>(p);
    cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost);
    printf("%d %d\n", out[0], out[3]);
}
"""

PRINTED = """before
block 0 warp 0 word 2.500 a %
block 0 warp 1 word 2.500 a %
between
block 0 warp 0 word -1.000 a %
block 1 warp 0 word -1.000 b %
passed
"""


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def build(self, *words, **sources):
        for name, text in sources.items():
            (self.path / f"{name}.cu").write_text(text)
        done = subprocess.run([NVCC, *words], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_mistakes_are_told_and_no_wait_hides_them(self):
        self.build("-arch=compute_90", "-cudart", "shared", "-o", "program", "mistakes.cu", mistakes=MISTAKES)
        done = self.tyto("--quiet", "--compute-capability", "9.0", "--return-unsupported", "./program")
        names = [line.split()[-1] for line in done.stdout.splitlines()]
        self.assertEqual(names, ["cudaErrorInvalidSymbol"] * 2 + ["cudaErrorInvalidDevice"] * 2 + ["cudaErrorNotSupported"] * 3 +
                         ["cudaSuccess"] * 2 + ["cudaErrorIllegalAddress"], done.stderr)
        for message in ("is no symbol: ", "cudaSetDevice(1) fails: there is one device, 0", "--on-fault report"):
            self.assertEqual(done.stderr.count(message), 1, done.stderr)

    def test_a_deadlock_with_the_host_says_so(self):
        self.build("-arch=sm_75", "-cudart", "shared", "-o", "program", "answered.cu", answered=ANSWERED)
        for is_timed in (False, True):
            done = self.tyto("--quiet", "--machine", "gtx480", "./program", is_timed=is_timed)
            self.assertIn("it may wait for the host", done.stderr)
            self.assertIn("cudaErrorLaunchTimeout", done.stdout)

    def test_a_deadlock_of_a_stream_says_so(self):
        self.build("-arch=sm_75", "-cudart", "shared", "-o", "program", "behind.cu", behind=BEHIND)
        for is_timed, said in ((False, "another stream than its own, 1: kernels run one at a time here"),
                               (True, "kernel look(int volatile*) of stream 1 may wait for another stream or for the host")):
            done = self.tyto("--quiet", "--machine", "gtx480", "./program", is_timed=is_timed)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, "cudaErrorLaunchTimeout\n")

    def tyto(self, *words, is_timed=False):
        mode = () if is_timed else ("--functional",)
        return subprocess.run([TYTO, "run", *mode, *words], cwd=self.path, env=PLAIN,
                              capture_output=True, text=True, check=False)

    def test_a_plain_build_runs(self):
        self.build("-cudart", "shared", "x.cu", x=TWO_KERNELS)
        done = self.tyto("--json", "out.json", "./a.out", "word")
        self.assertEqual(done.stdout, "5 word\n", done.stderr)
        self.assertEqual(done.returncode, 42)
        report = json.loads((self.path / "out.json").read_text())
        names = [kernel["kernel"] for kernel in report["kernels"]]
        self.assertEqual(names, ["_Z5firstv", "_Z6secondPi"])

    def test_every_compression_is_read(self):
        for mode in ("speed", "balance", "size", "none"):
            self.build("-cudart", "shared", f"--compress-mode={mode}", "x.cu", x=TWO_KERNELS)
            self.assertEqual(self.tyto("./a.out", mode).stdout, f"5 {mode}\n")

    def test_machine_code_alone_is_explained(self):
        self.build("-cudart", "shared", "-gencode", "arch=compute_86,code=sm_86", "x.cu", x=TWO_KERNELS)
        done = self.tyto("--compute-capability", "7.5", "./a.out", "word")
        self.assertIn("nvcc -gencode arch=compute_86,code=compute_86", done.stderr)

    def test_separate_compilation(self):
        self.build("-cudart", "shared", "-rdc=true", "x.cu", "y.cu", x=MAIN_FILE, y=OTHER_FILE)
        self.assertEqual(self.tyto("./a.out").stdout, "7 16\n")

    def test_kernels_are_chosen_by_their_names_in_the_source(self):
        self.build("-cudart", "shared", "x.cu", x=NAMED_KERNELS)
        for names, chosen in (("plain", 1), ("twice", 2), ("space::plain", 1), ("space::*,single", 2),
                              ("*twiceIf*", 1), ("*", 4)):
            done = self.tyto("--kernels", names, "--json", "out.json", "./a.out", is_timed=True)
            self.assertEqual(done.stdout, "1 2 3 4\n", done.stderr)
            self.assertNotIn("warning", done.stderr)
            self.assertEqual(json.loads((self.path / "out.json").read_text())["total"]["kernels"], chosen, names)

    def test_a_library_that_is_not_there_is_named_at_once(self):
        if not os.path.exists("/usr/local/cuda/lib64/libcufftw.so"):
            self.skipTest("the CUDA toolkit has no cuFFTW")
        self.build("-cudart", "shared", "x.cu", "-lcufftw", x=TRANSFORMS)
        done = self.tyto("./a.out")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr.startswith("tyto: warning: ./a.out links libcufftw.so (cuFFTW)"), done.stderr)
        self.assertIn("tyto: error: libcufftw.so", done.stderr)

    def test_a_kernel_of_more_registers_than_a_machine_has_runs_with_fewer(self):
        self.build("-cudart", "shared", "x.cu", x=MANY_REGISTERS)
        done = self.tyto("--machine", "gtx480", "--set", "sm.registers=16384", "--json", "out.json", "./a.out",
                         is_timed=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("they get 64"), 1, done.stderr)
        report = json.loads((self.path / "out.json").read_text())
        self.assertEqual([kernel["registers"] for kernel in report["kernels"]], [64] * 3)
        self.assertNotIn("they get", self.tyto("./a.out").stderr)

    def test_shared_memory_is_told_as_the_hardwares_driver_tells_it(self):
        """CUDA programming guide, "Technical Specifications per Compute Capability"."""
        told = {"v100": (96, 48, 96, 0, 9), "a100": (164, 48, 163, 1, 14), "rtx3070": (100, 48, 99, 1, 9), "rtx4090": (100, 48, 99, 1, 9),
                "rtx5090": (100, 48, 99, 1, 9),
                "h100": (228, 48, 227, 1, 20), "gtx480": (48, 48, 48, 0, 4)}
        self.build("-cudart", "shared", "-o", "shared", "shared.cu", shared=SHARED_MEMORY)
        for machine, (sm, cta, most, reserved, ctas) in told.items():
            done = self.tyto("--machine", machine, "--compute-capability", "8.9", "./shared", is_timed=True)
            self.assertEqual(done.stdout.split(),
                             [str(size) for size in (sm << 10, cta << 10, most << 10, reserved << 10, reserved << 10, ctas)],
                             machine + done.stderr)

    def test_private_tables_are_told_of_once_even_before_the_start(self):
        self.build("-cudart", "shared", "x.cu", "-lcuda", x="""#include <cuda.h>
            int main() {
                const void *table;
                CUuuid id = {};
                for (int i = 0; i < 3; i++) cuGetExportTable(&table, &id);
                cuInit(0);
                return cuGetExportTable(&table, &id) == CUDA_ERROR_NOT_SUPPORTED;
            }""")
        done = self.tyto("./a.out")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("needs private tables of the vendor's driver"), 1, done.stderr)

    def test_kernels_that_launch_kernels_run_as_ptx_next_to_machine_code(self):
        self.build("-rdc=true", "-gencode", "arch=compute_90,code=[sm_90,compute_90]",
                   os.path.join(PROGRAMS, "dynamic_quicksort.cu"), "-lcudadevrt")
        for code in "machine", "ptx":
            done = self.tyto("--machine", "h100", "--code", code, "./a.out")
            self.assertEqual(done.stdout.split()[-1:], ["passed"], done.stderr)
            self.assertEqual(done.stderr.count("PTX runs instead"), code == "machine", done.stderr)

    def test_what_kernels_may_not_do_to_the_programs_memory_ends_them_with_a_message(self):
        self.build("-cudart", "shared", "x.cu", x=REGISTERED)
        messages = ["which kernels reach once it is registered", "which kernels may only read: byte 20 of the 4096-byte",
                    "the program has unmapped them"]
        for what, message in enumerate(messages):
            done = self.tyto("./a.out", str(what))
            self.assertEqual(done.stdout.split()[0], "cudaErrorIllegalAddress")
            self.assertEqual(done.stderr.count(message), 1, done.stderr)

    def test_printf_keeps_its_order(self):
        self.build("-cudart", "shared", os.path.join(PROGRAMS, "device_printf.cu"))
        self.assertEqual(self.tyto("./a.out").stdout, PRINTED)

    def test_a_fork_after_the_start_is_refused(self):
        self.build("-cudart", "shared", "x.cu", x=FORK)
        done = self.tyto("./a.out")
        self.assertEqual(done.stdout, "0 3 0\n", done.stderr)
        self.assertEqual(done.stderr.count("forked"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
