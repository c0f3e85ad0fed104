#!/usr/bin/env python3
"""Programs of earlier CUDA releases, linked with libcudart.so.12 and libcudart.so.11.0.

usage: test_releases.py TYTO LIBRARIES PROGRAMS NAME...

LIBRARIES is the folder of our CUDA libraries, PROGRAMS that of our CUDA programs. Each NAME is one of these programs. It
is built with clang, and its calls are bound to the release's version node, as in a program that was built at that time.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RELEASES = {"libcudart.so.12": 12, "libcudart.so.11.0": 11}
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith("TYTO_") and key != "LD_LIBRARY_PATH"}

# Functions that only those releases have, with the declarations of their headers.
OLD_CALLS = r"""
#include <cstdio>
#include <cstring>
extern "C" cudaError_t cudaThreadSynchronize();
extern "C" cudaError_t cudaGetDeviceProperties_v2(void *properties, int device);
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main() {
    int version, values[4] = {1, 2, 3, 4}, *p;
    char properties[1032];
    cudaRuntimeGetVersion(&version);
    cudaGetDeviceProperties_v2(properties, 0);
    cudaMalloc(&p, sizeof values);
    cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    twice<<<1, 4>>>(p);
    cudaThreadSynchronize();
    cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", version / 1000, values[3], std::strlen(properties) ? "named" : "nameless");
    return cudaGetLastError();
}
"""

# Calls that return other errors than in CUDA 13.
OLD_ERRORS = r"""
#include <cstdio>
__global__ void nothing() {}
int main() {
    int no_kernel = 0;
    nothing<<<1, 2048>>>();
    std::puts(cudaGetErrorName(cudaGetLastError()));
    std::puts(cudaGetErrorName(cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr)));
}
"""


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=PLAIN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Releases:
    def __init__(self, tyto, libraries, folder):
        self.tyto, self.libraries, self.folder = os.path.abspath(tyto), pathlib.Path(libraries).resolve(), folder

    def build(self, source, soname):
        """Builds a program that needs `soname` and binds its calls to that library's version. Returns its path."""
        item = self.folder / f"{source.stem}.o"
        program = self.folder / f"{source.stem}-{soname}"
        if not item.exists():
            run(self.tyto, "cc", "--clang", "-O1", "-c", "-o", item, source)
        run("clang++-19", "-o", program, item, self.libraries / soname, f"-Wl,-rpath-link,{self.libraries.parent}")
        needed = re.findall(r"\(NEEDED\).*\[(libcudart[^]]*)\]", run("readelf", "-d", program).stdout)
        nodes = set(re.findall(r"@(libcudart\.so[.\d]*)", run("nm", "-D", program).stdout))
        if needed != [soname] or nodes != {soname}:
            raise RuntimeError(f"{program.name} needs {needed} and versions {nodes}")
        return program

    def check(self, source, soname, printed=None, is_silent=True):
        done = run(self.tyto, "run", "--functional", "--quiet", self.build(source, soname))
        # the loader would complain on stderr if a library lacked the version that a program asks for
        if (is_silent and done.stderr) or (printed and done.stdout != printed):
            raise RuntimeError(f"{source.stem} with {soname}: {done.stdout}{done.stderr}")


def main(tyto, libraries, programs, *names):
    with tempfile.TemporaryDirectory() as folder:
        releases = Releases(tyto, libraries, pathlib.Path(folder))
        old = pathlib.Path(folder) / "old_calls.cu"
        old.write_text(OLD_CALLS, encoding="utf-8")
        errors = pathlib.Path(folder) / "old_errors.cu"
        errors.write_text(OLD_ERRORS, encoding="utf-8")
        for soname, release in RELEASES.items():
            releases.check(old, soname, f"{release} 8 named\n")
            releases.check(errors, soname, "cudaErrorInvalidConfiguration\ncudaErrorInvalidDeviceFunction\n",
                           is_silent=False)
            for name in names:
                releases.check(pathlib.Path(programs) / f"{name}.cu", soname)
    print(f"{2 + len(names)} programs ran with each of {', '.join(RELEASES)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
