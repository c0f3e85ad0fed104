#!/usr/bin/env python3
"""Host programs with several threads and processes, and the ways in which they end.

usage: test_processes.py TYTO PROGRAMS

PROGRAMS is the folder of our CUDA programs. Everything is built by `tyto cc` with clang.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import hear_signals  # noqa: E402 (found by the line above)

hear_signals()
TYTO, PROGRAMS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith("TYTO_") and key != "LD_LIBRARY_PATH"}

# Adds its first argument to eight numbers, and ends as its second argument says.
ADDER = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
__global__ void add(int *p, int x) { p[threadIdx.x] += x; }
static int sum_after(int x) {
    int values[8] = {}, sum = 0, *p;
    cudaMalloc((void **)&p, sizeof values);
    cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    add<<<1, 8>>>(p, x);
    cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
    for (int value : values) sum += value;
    return sum;
}
int main(int count, char **words) {
    if (!strcmp(words[2], "fork")) { /* two children and their parent; CUDA begins later in each of them */
        for (int child = 1; child <= 2; child++)
            if (fork() == 0) exit(sum_after(child));
        int first, second;
        wait(&first);
        wait(&second);
        printf("%d %d\n", WEXITSTATUS(first) + WEXITSTATUS(second), sum_after(4));
        return 0;
    }
    printf("%d\n", sum_after(atoi(words[1])));
    fflush(stdout);
    if (!strcmp(words[2], "abort")) abort();
    if (!strcmp(words[2], "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(words[2], "pause")) pause();
    if (!strcmp(words[2], "again")) return system("$PROGRAM 5 3") >> 8; /* a program of its own */
    if (!strcmp(words[2], "child")) { /* the rest of CUDA in a child must not trouble it */
        if (fork() == 0) raise(SIGTERM);
        int status;
        wait(&status);
        printf("child %d\n", WTERMSIG(status));
        return 0;
    }
    return atoi(words[2]);
}
"""

ENDLESS = r"""
#include <cstdio>
__global__ void prepare(int *p) { *p = 0; }
__global__ void spin(volatile int *p) { /* it stores, as a loop that only looks is soon given up */
    printf("running\n");
    while (*p == 0) p[1] = p[1] ^ 1;
}
int main() {
    int *p;
    cudaMalloc((void **)&p, 8);
    prepare<<<1, 1>>>(p);
    spin<<<1, 1>>>(p);
    printf("not reached\n");
    return 5;
}
"""


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        for name, text in (("adder", ADDER), ("endless", ENDLESS)):
            (cls.path / f"{name}.cu").write_text(text, encoding="utf-8")
            cls.build(cls.path / f"{name}.cu")
        cls.build(PROGRAMS / "host_threads.cu")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, source):
        done = subprocess.run([TYTO, "cc", "--clang", "-O1", "-o", cls.path / source.stem, source.resolve(), "-pthread"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def start(self, *words):
        environment = {**PLAIN, "PROGRAM": str(self.path / "adder")}
        return subprocess.Popen([TYTO, "run", *words], cwd=self.path, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, *words):
        process = self.start(*words)
        out, error = process.communicate(timeout=120)
        return process.returncode, out, error

    def report(self, name="out.json"):
        return json.loads((self.path / name).read_text(encoding="utf-8"))

    def test_exit_status(self):
        for end, status in (("0", 0), ("3", 3), ("255", 255), ("abort", -signal.SIGABRT),
                            ("kill", -signal.SIGKILL)):
            got, out, error = self.finish("--functional", "./adder", "2", end)
            self.assertEqual((got, out), (status, "16\n"), error)

    def test_threads_launch_side_by_side(self):
        """All launches and all instructions are counted, whatever their order."""
        totals = []
        for _ in range(2):
            status, out, error = self.finish("--quiet", "--json", "out.json", "./host_threads")
            self.assertEqual((status, out), (0, "passed\n"), error)
            totals.append(self.report()["total"])
        for total in totals:
            self.assertEqual(total["kernels"], 4 * 20)
            self.assertEqual(total["warp_instructions"], totals[0]["warp_instructions"])

    def test_programs_run_in_parallel(self):
        status, out, error = self.finish("--functional", "sh", "-c", "./adder 1 0 & ./adder 2 0 & wait")
        self.assertEqual((status, sorted(out.split())), (0, ["16", "8"]), error)
        self.assertEqual(error.count(" functionally: 1 kernel, "), 2)

    def test_the_same_program_twice_at_once(self):
        runs = [self.start("--quiet", "--json", f"{i}.json", "./adder", "7", "0") for i in range(2)]
        for run in runs:
            out, error = run.communicate(timeout=120)
            self.assertEqual((run.returncode, out), (0, "56\n"), error)
        reports = [self.report(f"{i}.json") for i in range(2)]
        for report in reports:
            del report["host"]
        self.assertEqual(*reports)

    def test_a_fork_before_the_start(self):
        status, out, error = self.finish("--functional", "./adder", "0", "fork")
        self.assertEqual((status, out), (0, "24 32\n"), error)
        self.assertEqual(error.count(" functionally: 1 kernel, "), 3)

    def test_a_program_starts_another(self):
        status, out, error = self.finish("--functional", "./adder", "1", "again")
        self.assertEqual((status, out), (3, "8\n40\n"), error)
        self.assertEqual(error.count(" functionally: 1 kernel, "), 2)

    def test_a_child_of_fork_dies_as_it_should(self):
        status, out, error = self.finish("--functional", "./adder", "1", "child")
        self.assertEqual((status, out), (0, f"8\nchild {signal.SIGTERM.value}\n"), error)

    def test_an_interrupt_in_a_kernel(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for mode in ((), ("--functional",)):
                process = self.start(*mode, "--json", "out.json", "./endless")
                self.assertEqual(process.stdout.readline(), "running\n")
                process.send_signal(number)
                out, error = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out), (-number, ""), error)
                done, ended = self.report()["kernels"]
                self.assertEqual((done["status"], ended["status"]), ("complete", "interrupted"))
                self.assertGreater(ended["warp_instructions"], done["warp_instructions"])
                self.assertEqual(ended.get("cycles", 0) > 0, not mode)
                self.assertRegex(error, r"interrupted" if not mode else r" functionally: 2 kernels, ")

    def test_an_interrupt_between_kernels(self):
        """The program waits in its own code; the kernels that ran before are reported anyway."""
        process = self.start("--json", "out.json", "./adder", "3", "pause")
        self.assertEqual(process.stdout.readline(), "24\n")
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGINT, error)
        self.assertEqual([kernel["status"] for kernel in self.report()["kernels"]], ["complete"])
        self.assertRegex(error, re.compile(r"^kernel add, ", re.M))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
