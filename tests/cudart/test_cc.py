#!/usr/bin/env python3
"""Programs built by `tyto cc`, run by `tyto run`, functionally and in detail.

usage: test_cc.py TYTO PROGRAMS NAME...

PROGRAMS is the folder of our CUDA programs; each NAME is one of them and is built with clang. old_references and
old_style are built with --old, the latter also with nvcc if that is found. The test also builds with nvcc options from
Makefiles, with both compilers, and builds programs of several files with linked device code, with clang."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIBRARIES = {"growing_vector": ("-lcuda",), "blas_complex": ("-lcublas",), "blas_mlp": ("-lcublas", "-lcublasLt"), "random_pi": ("-lcurand",),
             "fourier_filter": ("-lcufft",),
             "sparse_solver": ("-lcusparse",),
             "stream_waits": ("-lcuda",)}
OPTIONS = {"old_references": ("--old",), "old_style": ("--old",), "cluster_ring": ("-arch=sm_90",),
           "dependent_graph": ("-arch=sm_90",),
           "registered_memory": ("-pie",)}  # kernels cannot reach low addresses, where the heap may be without it
SCHEDULERS = ("lrr", "gto", "two-level", "ccws", "pro", "owl")  # each program runs under the next one


# Prints the architecture of the device code, and the host's values of the macros that -D and -Xcompiler define.
ARCHITECTURE = r"""
#include <cstdio>
__global__ void kernel(int *p) {
#ifdef __CUDA_ARCH__
    *p = __CUDA_ARCH__;
#endif
}
int main() {
    int out = 0, *p;
    cudaMalloc(&p, sizeof out);
    kernel<<<1, 1>>>(p);
    cudaMemcpy(&out, p, sizeof out, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", out, GIVEN, HOST);
}
"""
# nvcc options from Makefiles; __CUDA_ARCH__ in kernels of such a build on a device of 8.6, with clang and with nvcc.
MAKEFILE = ("-DGIVEN=3", "-Xcompiler", "-Wall,-DHOST=4", "-std=c++17", "-O3")
MAKEFILES = (
    ((), 750, 750),
    (("-arch=sm_80",), 800, 800),
    (("-arch", "compute_86", "-code", "sm_86"), 860, 860),
    (("-gencode", "arch=compute_80,code=sm_80", "--generate-code=arch=compute_75,code=compute_75"), 800, 800),
    (("-arch=sm_35",), 700, 750),
    (("-G", "-lineinfo", "-maxrregcount=32", "-Xptxas", "-v", "--use_fast_math", "-rdc=true", "-Xlinker", "-O1"), 750, 750),
    (("-x", "cu", "--compiler-options", "-fPIC", "-m64", "--expt-relaxed-constexpr", "--extended-lambda", "-cudart",
      "static"), 750, 750),
    (("-I/usr/local/cuda/include", "-L/usr/local/cuda/lib64", "-Wno-deprecated-gpu-targets", "--ptxas-options=-v"), 750, 750),
)

# A program of several files (-dc, -rdc=true). Each file uses definitions of another one; two have a static kernel with
# the same name and an unnamed namespace. The host changes managed variables before its first CUDA call.
FILES = {
    "main": r"""
#include <cstdio>
extern __device__ int counter;
extern __constant__ int table[4];
extern __managed__ long long total;
__managed__ float weights[3] = {0.5f, 2, 8};
__device__ int twice(int x);
__global__ void far(int *out);
void near_of_other(int *out);
namespace { __device__ int hidden = 1; }
static __global__ void near(int *out) {
    out[0] = twice(counter) + table[threadIdx.x] + hidden;
    total += (long long)(weights[0] + weights[1] + weights[2]);
}
int main() {
    int out[3], three = 3, *p;
    total = 1000;
    weights[2] = 32;
    cudaMalloc(&p, sizeof out);
    cudaMemcpyToSymbol(counter, &three, sizeof three);
    near<<<1, 1>>>(p);
    near_of_other(p);
    far<<<1, 1>>>(p);
    cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost);
    printf("%d %d %d %lld\n", out[0], out[1], out[2], total);
}
""",
    "other": r"""
__device__ int counter = 1;
__constant__ int table[4] = {10, 20, 30, 40};
__managed__ long long total = 7;
__device__ int twice(int x) { return 2 * x; }
namespace { __device__ int hidden = 100; }
static __global__ void near(int *out) { out[1] = counter + hidden; }
__global__ void far(int *out) { out[2] = (int)total; }
void near_of_other(int *out) { near<<<1, 1>>>(out); }
""",
    "again": "__device__ int twice(int x) { return 3 * x; } __global__ void more(int *out) { *out = twice(1); }",
}


def build_of_files(tyto, folder):
    """(failed, total) of the builds of several files."""
    for name, text in FILES.items():
        (folder / f"{name}.cu").write_text(text)
    cc = (tyto, "cc", "--clang", "-O1")
    program = folder / "linked"

    def result_is_right():
        done = subprocess.run((tyto, "run", "--functional", "--quiet", program), capture_output=True, text=True,
                              check=False)
        if done.stdout != "17 103 1034 1034\n":
            print("several files:", done.stdout, done.stderr)
        return done.stdout == "17 103 1034 1034\n"

    def refused(words, message):
        program.unlink(missing_ok=True)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        is_right = done.returncode != 0 and message in done.stderr and not program.exists()
        if not is_right:
            print(words, done.returncode, done.stderr, f"expected: {message}")
        return is_right

    sources = {name: folder / f"{name}.cu" for name in FILES}
    objects = {name: folder / f"{name}.o" for name in FILES}
    passed = [run(*cc, "-rdc=true", "-o", program, sources["main"], sources["other"]) and result_is_right()]
    for name in FILES:
        passed.append(run(*cc, "-dc", "-o", objects[name], sources[name]))
    passed.append(run(*cc, "-o", program, objects["main"], objects["other"]) and result_is_right())
    archive = folder / "libparts.a"
    passed.append(run("ar", "rc", archive, objects["other"]) and
                  run(*cc, "-o", program, objects["main"], archive) and result_is_right())
    passed.append(refused((*cc, "-o", program, objects["again"], objects["main"], objects["other"]),
                          "'twice(int)' is defined twice: first at PTX of again.cu:"))
    passed.append(refused((*cc, "-o", program, "-rdc=true", *(sources[name] for name in ("main", "again"))),
                          "undefined reference to `counter'"))
    lone = folder / "lone.cu"
    lone.write_text("__device__ int twice(int x); __global__ void k(int *p) { *p = twice(1); } int main() {}")
    passed.append(refused((*cc, "-o", program, "-rdc=true", lone), "PTX of lone.cu:10: error: 'twice(int)' is used but not defined"))
    return passed.count(False), len(passed)


def build_with_options(tyto, folder):
    """(failed, total) of the builds with a Makefile's options."""
    source, program = folder / "architecture.cu", folder / "architecture"
    source.write_text(ARCHITECTURE)
    kinds = (("--clang",), ()) if shutil.which("nvcc") else (("--clang",),)
    failed = 0
    for options, *expected in MAKEFILES:
        for kind, architecture in zip(kinds, expected):
            words = (tyto, "cc", *kind, *MAKEFILE, *options, "-o", program, source)
            is_right = run(*words)
            if is_right:
                done = subprocess.run((tyto, "run", "--functional", "--quiet", "--compute-capability", "8.6", program),
                                      capture_output=True, text=True, check=False)
                is_right = done.stdout == f"{architecture} 3 4\n"
                if not is_right:
                    print(words, done.stdout, done.stderr, f"expected {architecture} 3 4")
            failed += not is_right
    return failed, len(MAKEFILES) * len(kinds)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(map(str, words)), done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def build_and_run(tyto, source, folder, options, scheduler):
    """Number of a program's two runs that fail."""
    program = folder / source.stem
    machine = "h100" if "-arch=sm_90" in options else "gtx480"
    modes = (("--functional",), ("--machine", machine, "--scheduler", scheduler))
    if not run(tyto, "cc", *options, "-O1", "-o", program, source, *LIBRARIES.get(source.stem, ())):
        return len(modes)
    return sum(not run(tyto, "run", "--quiet", *mode, program) for mode in modes)


# warp functions without a mask, and a header of CUB, which uses the same names
OLD_WITH_CUB = r"""
#include <cub/block/block_reduce.cuh>
#include <cstdio>
texture<float, 1, cudaReadModeElementType> values;
__global__ void kernel(int *out) {
    typedef cub::BlockReduce<int, 64> Reduce;
    __shared__ typename Reduce::TempStorage room;
    int t = threadIdx.x, sum = Reduce(room).Sum(t);
    out[t] = __any(t == 3) + 2 * __all(t < 40) + 4 * (__ballot(t & 1) == 0xaaaaaaaau);
    if (t == 0) out[64] = sum;
}
int main() {
    int host[65], *device;
    cudaMalloc(&device, sizeof host);
    kernel<<<1, 64>>>(device);
    cudaThreadSynchronize();
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", host[0], host[40], host[64]);
}
"""


def build_old_with_cub(tyto, folder):
    """(failed, total) of these builds; only nvcc provides CUB."""
    if not shutil.which("nvcc"):
        return 0, 0
    source, program = folder / "old_with_cub.cu", folder / "old_with_cub"
    source.write_text(OLD_WITH_CUB)
    if not run(tyto, "cc", "--old", "-o", program, source):
        return 1, 1
    done = subprocess.run((tyto, "run", "--functional", "--quiet", program), capture_output=True, text=True, check=False)
    if done.stdout != "7 4 2016\n":
        print("old, with CUB:", done.stdout, done.stderr)
    return int(done.stdout != "7 4 2016\n"), 1


def main(tyto, programs, *names):
    tyto = os.path.abspath(tyto)
    rows = [(name, ("--clang", *OPTIONS.get(name, ()))) for name in names]
    if "old_style" in names and shutil.which("nvcc"):
        rows.append(("old_style", ("--old", "-arch=sm_20")))
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(build_and_run(tyto, pathlib.Path(programs) / f"{name}.cu", pathlib.Path(folder), options,
                                   SCHEDULERS[i % len(SCHEDULERS)])
                     for i, (name, options) in enumerate(rows))
        further = [build(tyto, pathlib.Path(folder)) for build in (build_with_options, build_of_files, build_old_with_cub)]
    failed += sum(one for one, _ in further)
    more = sum(count for _, count in further)
    print(f"{2 * len(rows) + more - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
