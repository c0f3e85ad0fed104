#!/usr/bin/env python3
"""Programs that contain CUDA's static runtime, under `tyto run` without further settings.

usage: test_static.py TYTO COMPILER [NVCC PROGRAMS]

COMPILER is a C compiler. Without NVCC, the test runs only programs whose static runtime consists of a few functions of
ours. PROGRAMS is the folder of our CUDA programs.
"""
import json
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

TYTO, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2]
NVCC, PROGRAMS = map(os.path.abspath, sys.argv[3:5]) if len(sys.argv) > 3 else (None, None)
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith("TYTO_") and key not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS")}
DAMAGES = 60

# This replaces the vendor's runtime. Each function returns 90 or more, which Tyto's functions do not return. The first
# and the last function belong to the program itself.
RUNTIME = r"""
#define FUNCTION(name, code) __attribute__((noinline, aligned(16), visibility("hidden"))) \
    int name(int *value); int name(int *value) { if (value) *value = code; return code; }
FUNCTION(cudaOwnBefore, 70)
FUNCTION(__cudaRegisterFatBinary, 90)
FUNCTION(cudaRuntimeGetVersion, 91)
MARKER
FUNCTION(cudaOfAnotherRelease, 92)
FUNCTION(cudaGetDeviceCount, 93)
extern __attribute__((alias("cudaGetDeviceCount"), visibility("hidden"))) int cudaGetDeviceCount_v9(int *value);
FUNCTION(cudaSetDevice, 96)
FUNCTION(cudaOwnBehind, 71)
"""
CALLS = r"""
#include <stdio.h>
int CALLED(void);
int CALLED(void) {
    int version = -1, count = -1, missing[2];
    int before = cudaOwnBefore(0), behind = cudaOwnBehind(0);
    cudaRuntimeGetVersion(&version);
    cudaGetDeviceCount(&count);
    for (int i = 0; i < 2; i++) missing[i] = cudaOfAnotherRelease(0);
    printf("%d %d %d %d %d %d\n", version / 1000, count, missing[0], missing[1], before, behind);
    fflush(stdout);
    return 0;
}
"""
# Times a kernel and leaks memory; a message must report the leak once.
LOSES = r"""
#include <dlfcn.h>
#include <stdlib.h>
static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n";
int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *kernel;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*create)(void **, unsigned, int) = (int (*)(void **, unsigned, int))dlsym(library, "cuCtxCreate_v2");
    int (*load)(void **, const void *) = (int (*)(void **, const void *))dlsym(library, "cuModuleLoadData");
    int (*find)(void **, void *, const char *) = (int (*)(void **, void *, const char *))dlsym(library, "cuModuleGetFunction");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))dlsym(library, "cuLaunchKernel");
    volatile char *lost = malloc(77);
    lost[0] = 1;
    lost = 0;
    return init(0) || create(&context, 0, 0) || load(&module, ptx) || find(&kernel, module, "k") ||
           launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0);
}
"""
REDIRECTED, UNTOUCHED = "{} 1 801 801 70 71\n", "0 93 92 92 70 71\n"
OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW);
        int (*called)(void) = (int (*)(void))(library ? dlsym(library, "called") : NULL);
        const char *error = dlerror();
        if (!called || error) return puts(error ? error : "nothing"), 1;
        called();
        dlclose(library);
    }
    return 0;
}
"""
CLOSES = r"""
#include <dlfcn.h>
#include <stddef.h>
int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*start)(unsigned) = (int (*)(unsigned))(driver ? dlsym(driver, "cuInit") : NULL);
    if (!start || start(0)) return 1;
    dlclose(driver);
    return !dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
}
"""
RELEASES = {"13": "", "12": "FUNCTION(cudaGetDeviceProperties_v2, 94)",
            "11": "FUNCTION(cudaGetDeviceProperties_v2, 94) FUNCTION(cudaBindTexture, 95)"}

KERNEL = r"""
#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
extern "C" int called() {
    int values[64], *p;
    for (int i = 0; i < 64; i++) values[i] = i;
    cudaMalloc(&p, sizeof values);
    cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(p);
    cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
    cudaFree(p);
    std::printf("%d %s\n", values[21], cudaGetErrorName(cudaGetLastError()));
    std::fflush(stdout);
    return 0;
}
"""
TEXTS = r"""
#include <cstdio>
#include <cstring>
int main() {
    for (int code = 0; code <= 10000; code++) {
        const char *name = cudaGetErrorName((cudaError_t)code);
        if (std::strncmp(name, "cuda", 4) == 0) std::printf("%d %s: %s\n", code, name, cudaGetErrorString((cudaError_t)code));
    }
    std::puts(cudaGetErrorString((cudaError_t)12345));
}
"""
MAIN = "extern \"C\" int called();\nint main() { return called(); }\n"
EXECUTES = "#include <unistd.h>\nint main(int count, char **words) { return execv(words[1], words + 1); }\n"
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(of_cmake LANGUAGES CXX CUDA)
add_library(kernel SHARED kernel.cu)
add_executable(of_cmake main.cpp)
target_link_libraries(of_cmake kernel)
add_executable(alone kernel.cu main.cpp)
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def build(self, *words, **sources):
        for name, text in sources.items():
            (self.path / name.replace("__", ".")).write_text(text)
        done = subprocess.run(list(map(str, words)), cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def tyto(self, *words, tyto=TYTO, environment=()):
        return subprocess.run([tyto, "run", "--functional", *map(str, words)], cwd=self.path, env={**PLAIN, **dict(environment)},
                              capture_output=True, text=True, check=False)

    def prints(self, expected, *words, **how):
        done = self.tyto("--quiet", *words, **how)
        self.assertEqual((done.stdout, done.returncode), (expected, 0), done.stderr)
        return done.stderr


class Made(Case):
    """A runtime made for this test."""

    def source(self, called="main", release="13"):
        return (RUNTIME.replace("MARKER", RELEASES[release]) + CALLS).replace("CALLED", called)

    def program(self, name="program", release="13", flags=()):
        self.build(COMPILER, "-O1", *flags, "-o", name, "program.c", program__c=self.source(release=release))

    def library(self, name="library.so", release="13"):
        self.build(COMPILER, "-O1", "-shared", "-fPIC", "-o", name, "library.c", library__c=self.source("called", release))

    def opener(self):
        self.build(COMPILER, "-o", "opener", "opener.c", "-ldl", opener__c=OPENS)

    def test_functions_are_redirected_to_the_programs_release(self):
        for release in RELEASES:
            self.program(release=release)
            said = self.prints(REDIRECTED.format(release), "./program")
            self.assertEqual(said.count("cudaOfAnotherRelease is not supported"), 1, said)

    def test_a_landing_pad_and_a_fixed_address_change_nothing(self):
        pads = ("-fcf-protection=full",) if platform.machine() == "x86_64" else ()
        self.program(flags=("-no-pie", *pads))
        self.prints(REDIRECTED.format(13), "./program")

    def test_a_program_for_a_profiler_is_redirected(self):
        self.program(flags=("-pg",))
        self.prints(REDIRECTED.format(13), "./program")

    def test_without_the_command_the_program_is_as_it_was(self):
        self.program()
        done = subprocess.run(["./program"], cwd=self.path, env=PLAIN, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, UNTOUCHED)

    def test_a_program_without_symbols_runs_as_it_is(self):
        self.program(flags=("-s",))
        self.assertEqual(self.prints(UNTOUCHED, "./program"), "")

    def test_libraries_that_are_opened_later_are_redirected_every_time(self):
        self.opener()
        self.library("one.so")
        self.library("two.so", "12")
        self.prints("".join(REDIRECTED.format(release) for release in (13, 12, 12, 13)), "./opener",
                    "./one.so", "./two.so", "./two.so", "./one.so")

    def test_a_program_and_its_library_have_a_runtime_each(self):
        self.library("libtwo.so", "12")
        program = self.source("of_program") + "int called(void);\nint main(void) { return of_program() + called(); }\n"
        self.build(COMPILER, "-o", "both", "both.c", "-L.", "-ltwo", "-Wl,-rpath,$ORIGIN", both__c=program)
        self.prints(REDIRECTED.format(13) + REDIRECTED.format(12), "./both")

    def test_python_opens_a_library(self):
        self.library()
        self.prints(REDIRECTED.format(13), sys.executable, "-c", "import ctypes; ctypes.CDLL('./library.so').called()")

    def test_children_are_redirected(self):
        self.program()
        self.build(COMPILER, "-o", "executes", "executes.c", executes__c=EXECUTES)
        for words in (("sh", "-c", "./program; true"), ("./executes", "./executes", "./program"),
                      (sys.executable, "-c", "import subprocess; subprocess.run('./program')")):
            self.prints(REDIRECTED.format(13), *words)

    def test_other_libraries_stay_preloaded(self):
        self.program()
        self.build(COMPILER, "-shared", "-fPIC", "-o", "other.so", "other.c",
                   other__c="#include <stdio.h>\n__attribute__((constructor)) static void say(void) { fputs(\"other\\n\", stderr); }\n")
        said = self.prints(REDIRECTED.format(13), "./program", environment={"LD_PRELOAD": f"{self.path}/other.so"})
        self.assertIn("other\n", said)

    def test_a_driver_that_a_runtime_closes_stays(self):
        """The vendor's runtime closes the driver if it finds no private tables; the driver's thread must continue to run."""
        self.build(COMPILER, "-o", "closes", "closes.c", "-ldl", closes__c=CLOSES)
        self.prints("", "./closes")

    def test_a_program_with_an_address_sanitizer_runs(self):
        probe = subprocess.run([COMPILER, "-fsanitize=address", "-x", "c", "-", "-o", self.path / "probe"], input="int main(void) { return 0; }",
                               capture_output=True, text=True, check=False)
        if probe.returncode:
            self.skipTest("the compiler has no address sanitizer")
        self.prints("", "./probe")

    def test_a_leak_sanitizer_reports_the_programs_leaks_alone(self):
        (self.path / "loses.c").write_text(LOSES, encoding="utf-8")
        built = subprocess.run([COMPILER, "-fsanitize=address", "loses.c", "-o", "loses", "-ldl"], cwd=self.path, capture_output=True,
                               text=True, check=False)
        if built.returncode:
            self.skipTest("the compiler has no address sanitizer")
        done = subprocess.run([TYTO, "run", "--quiet", "--machine", "gtx480", "./loses"], cwd=self.path, env=PLAIN,
                              capture_output=True, text=True, check=False, timeout=60)
        if "LeakSanitizer has encountered a fatal error" in done.stderr:
            self.skipTest("the leak sanitizer cannot stop the program here")
        self.assertIn("SUMMARY: AddressSanitizer: 77 byte(s) leaked in 1 allocation(s).", done.stderr)

    def test_a_folder_with_a_blank_in_its_name(self):
        place = self.path / "with blank"
        place.mkdir()
        shutil.copy(TYTO, place / "tyto")
        for name in ("cuda", "libtyto.so.0"):
            (place / name).symlink_to(pathlib.Path(TYTO).parent / name)
        self.program()
        self.prints(REDIRECTED.format(13), "./program", tyto=place / "tyto")

    def test_a_damaged_symbol_table_ends_no_program(self):
        """Damages what the loader does not read: the names of the symbols, and the section headers.

        (An address in a symbol is used if it is an address of code; test_redirect.c damages symbols too.)
        """
        self.program("whole")
        whole = (self.path / "whole").read_bytes()
        start = whole.rindex(b"\0", 0, whole.index(b"__cudaRegisterFatBinary\0"))
        chance = random.Random(54)
        for number in range(DAMAGES):
            damaged = bytearray(whole)
            for _ in range(chance.choice((1, 8, 64))):
                damaged[chance.randrange(start, len(whole))] = chance.choice((0, 1, 0x7f, 0x80, 0xff))
            if number % 6 == 0:
                damaged[chance.randrange(start, len(whole)):] = b""
            (self.path / "damaged").write_bytes(damaged)
            (self.path / "damaged").chmod(0o755)
            done = self.tyto("--quiet", "./damaged")
            self.assertEqual((done.returncode, len(done.stdout.split())), (0, 6), f"{number}: {done.stdout}{done.stderr}")


@unittest.skipUnless(NVCC, "nvcc is not installed")
class Vendors(Case):
    """The vendor's runtime, with a plain nvcc."""

    def compare(self, program, *words):
        """A plain build must give the same output and counts as a build with the shared runtime."""
        results = []
        for kind in ((), ("-cudart", "shared")):
            self.build(NVCC, *kind, "-gencode", "arch=compute_75,code=compute_75", "-o", "program", program, *words)
            done = self.tyto("--json", "out.json", "./program")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            kernels = json.loads((self.path / "out.json").read_text())["kernels"]
            results.append((done.stdout, [(kernel["kernel"], kernel["warp_instructions"]) for kernel in kernels]))
        self.assertEqual(*results)
        self.assertTrue(results[0][1])

    def test_a_plain_build_is_as_one_with_the_shared_runtime(self):
        for name in ("graph_explicit", "texture_lookup"):
            with self.subTest(name):
                self.compare(os.path.join(PROGRAMS, f"{name}.cu"))

    def test_kernels_that_launch_kernels(self):
        self.compare(os.path.join(PROGRAMS, "dynamic_quicksort.cu"), "-rdc=true", "-lcudadevrt")

    def test_a_default_stream_per_thread(self):
        self.compare(os.path.join(PROGRAMS, "vector_add.cu"), "-default-stream", "per-thread")

    def test_errors_have_the_vendors_texts(self):
        self.build(NVCC, "-o", "texts", "texts.cu", texts__cu=TEXTS)
        there = subprocess.run(["./texts"], cwd=self.path, env=PLAIN, capture_output=True, text=True, check=True).stdout
        self.assertGreater(there.count("\n"), 100)
        self.prints(there, "./texts")

    def test_libraries_are_linked_and_opened(self):
        self.build(NVCC, "-shared", "-Xcompiler", "-fPIC", "-o", "libkernel.so", "kernel.cu", kernel__cu=KERNEL)
        self.build(COMPILER, "-x", "c++", "-o", "linked", "main.cpp", "-L.", "-lkernel", "-Wl,-rpath,$ORIGIN", main__cpp=MAIN)
        self.build(COMPILER, "-o", "opener", "opener.c", "-ldl", opener__c=OPENS)
        self.prints("42 cudaSuccess\n", "./linked")
        self.prints(3 * "42 cudaSuccess\n", "./opener", *3 * ["./libkernel.so"])
        self.prints("42 cudaSuccess\n", sys.executable, "-c", "import ctypes; ctypes.CDLL('./libkernel.so').called()")
        self.prints(2 * "42 cudaSuccess\n", "sh", "-c", "./linked && ./linked")

    def test_cmakes_default(self):
        if not shutil.which("cmake"):
            self.skipTest("cmake is not installed")
        self.build("cmake", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=75", ".", CMakeLists__txt=CMAKE,
                   kernel__cu=KERNEL, main__cpp=MAIN)
        self.build("cmake", "--build", ".")
        self.prints("42 cudaSuccess\n", "./of_cmake")
        self.prints("42 cudaSuccess\n", "./alone")

    def test_what_is_stripped_is_explained_and_can_be_replaced(self):
        self.build(NVCC, "-o", "program", "kernel.cu", "main.cpp", kernel__cu=KERNEL, main__cpp=MAIN)
        self.build("strip", "program")
        done = self.tyto("./program")
        self.assertEqual(done.returncode, 126)
        for words in ("static runtime", "no symbol table", "nvcc -cudart shared", "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"):
            self.assertIn(words, done.stderr)
        said = self.tyto("--quiet", "sh", "-c", "./program; true").stderr
        self.assertIn("program needs private tables of the vendor's driver", said)
        folder = done.stderr.split("nvcc -L")[1].split(" ...")[0]
        self.build(NVCC, f"-L{folder}", "-o", "program", "kernel.cu", "main.cpp")
        for _ in range(2):
            self.prints("42 cudaSuccess\n", "./program")
            self.build("strip", "program")

    def test_what_has_no_shared_libraries_is_explained(self):
        self.build(NVCC, "-c", "kernel.cu", "main.cpp", kernel__cu=KERNEL, main__cpp=MAIN)
        self.build(NVCC, "-Xcompiler", "-static", "-o", "program", "kernel.o", "main.o")
        done = self.tyto("./program")
        self.assertEqual(done.returncode, 126)
        self.assertIn("no shared libraries", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
