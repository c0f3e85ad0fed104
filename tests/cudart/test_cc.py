#!/usr/bin/env python3
"""Programs built by `tyto cc`, run by `tyto run`, functionally and in detail.

usage: test_cc.py TYTO PROGRAMS NAME...

PROGRAMS is the folder of our CUDA programs; each NAME among them is built with clang. old_style is
built with --old, and with nvcc as well where that is found. Then a Makefile's options for nvcc, with
both.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIBRARIES = {"blas_mlp": ("-lcublas", "-lcublasLt"), "random_pi": ("-lcurand",)}
SCHEDULERS = ("lrr", "gto", "two-level", "ccws", "pro", "owl")  # each program runs under the next


# Prints the architecture that the device's code was made for, and what the host was told by -D and -Xcompiler.
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
# Options of nvcc as Makefiles have them; what kernels of such a build see on a device of 8.6, with clang and with nvcc.
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


def build_with_options(tyto, folder):
    """How many of the builds with a Makefile's options fail, of how many."""
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
    """How many of the two runs of a program fail."""
    program = folder / source.stem
    modes = (("--functional",), ("--machine", "gtx480", "--scheduler", scheduler))
    if not run(tyto, "cc", *options, "-O1", "-o", program, source, *LIBRARIES.get(source.stem, ())):
        return len(modes)
    return sum(not run(tyto, "run", "--quiet", *mode, program) for mode in modes)


def main(tyto, programs, *names):
    tyto = os.path.abspath(tyto)
    rows = [(name, ("--clang", "--old") if name == "old_style" else ("--clang",)) for name in names]
    if "old_style" in names and shutil.which("nvcc"):
        rows.append(("old_style", ("--old", "-arch=sm_20")))
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(build_and_run(tyto, pathlib.Path(programs) / f"{name}.cu", pathlib.Path(folder), options,
                                   SCHEDULERS[i % len(SCHEDULERS)])
                     for i, (name, options) in enumerate(rows))
        more_failed, more = build_with_options(tyto, pathlib.Path(folder))
    failed += more_failed
    print(f"{2 * len(rows) + more - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
