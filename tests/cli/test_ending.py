#!/usr/bin/env python3
"""The results of programs that end in various ways. Either all launches are in the files, or a message says what is
missing and the status is not 0.

usage: test_ending.py TYTO ENDING

ENDING is the program of ending.c.
"""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import DEFAULT_MACHINE, hear_signals, HOST, PLAIN, run_command  # noqa: E402 (found by the line above)

hear_signals()
TYTO, ENDING = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SECONDS = 60
LEAVING = """#include <unistd.h>
#include <tyto/policy.h>
static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    if (view->sm == 1) _exit(0); // of the second launch, which has two blocks
    return tyto_lowest(ready);
}
const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD, .name = "leaving", .summary = "ends the process", .pick = pick};
"""
# Each way to end: its exit status, and the number of blocks of each launch in the results.
WHOLE = (("return", 0, [1, 2]), ("_exit", 0, [1, 2]), ("_exit 5", 5, [1, 2]), ("quick_exit", 0, [1, 2]), ("abort", -signal.SIGABRT, [1, 2]),
         ("crash", -signal.SIGSEGV, [1, 2]), ("kill", -signal.SIGKILL, [1, 2]), ("hangup", -signal.SIGHUP, [1, 2]),
         ("exec", 0, [1, 2]), ("exec_again", 0, [1, 2, 1, 2]), ("closed", 0, [1] * 300), ("children", 0, [1, 2, 1, 2]),
         ("first_thread", 0, [1, 2]), ("looking", 0, [1, 2]), ("both", 0, [1, 2, 1, 2]), ("late", 0, [1, 2, 3]), ("bare", 0, [1, 2]))


class Endings(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        (self.folder / "tmp").mkdir()
        self.file = self.folder / "run.json"
        # a crash must end the program as it does without the address sanitizer
        sanitizer = ":".join(filter(None, (PLAIN.get("ASAN_OPTIONS"), "handle_segv=0")))
        self.environment = {**PLAIN, "TMPDIR": str(self.folder / "tmp"), "ASAN_OPTIONS": sanitizer}

    def run_program(self, mode, *options):
        done = run_command([TYTO, "run", *options, ENDING, *mode.split()], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(os.listdir(self.folder / "tmp"), [], mode)
        return done

    def result(self):
        return json.loads(self.file.read_text(encoding="utf-8"))

    def blocks(self):
        return [kernel["grid"][0] for kernel in self.result()["kernels"]]

    def test_every_launch_is_in_the_results(self):
        for mode, status, blocks in WHOLE:
            for timing in ((), ("--functional",)):
                with self.subTest(mode, timing=timing):
                    self.file.write_text("old", encoding="utf-8")
                    done = self.run_program(mode, "--quiet", *timing, "--json", "run.json")
                    self.assertEqual((done.returncode, done.stderr), (status, ""))
                    self.assertEqual(self.blocks(), blocks)
                    self.assertEqual(self.result()["machine"], DEFAULT_MACHINE)
                    self.assertEqual(self.result()["scheduler"] is None, bool(timing))

    def test_results_from_a_journal_are_those_that_the_program_would_have_written(self):
        self.run_program("return", "--quiet", "--machine", "owl", "--json", "run.json", "--csv", "run.csv", "--ctas", "ctas.csv")
        names = ("run.json", "run.csv", "ctas.csv")
        whole = [(self.folder / name).read_text(encoding="utf-8").replace("ending return", "ending _exit") for name in names]
        self.run_program("_exit", "--quiet", "--machine", "owl", "--json", "run.json", "--csv", "run.csv", "--ctas", "ctas.csv")
        left = [(self.folder / name).read_text(encoding="utf-8") for name in names]
        self.assertEqual(list(csv.reader(left[1].splitlines())), list(csv.reader(whole[1].replace(",return,", ",_exit,").splitlines())))
        self.assertEqual(left[2], whole[2].replace(",return,", ",_exit,"))
        whole, left = (json.loads(HOST.sub("", text[0])) for text in (whole, left))
        self.assertEqual(left.pop("ended_early"), "_exit or exec")
        self.assertEqual((left.pop("arguments"), whole.pop("arguments")), ("_exit", "return"))
        del whole["total"]["spread"]
        self.assertEqual(left, whole)

    def test_what_ended_it_is_in_the_result(self):
        for mode, ending in (("crash", "signal 11 (Segmentation fault)"), ("kill", "signal 9 (Killed)"), ("exec_again", "exec"),
                             ("children", "_exit, or by a signal"), ("late", "exit, with launches after its results were written"),
                             ("return", None), ("quick_exit", None), ("hangup", None), ("looking", "_exit, or by a signal")):
            with self.subTest(mode):
                self.run_program(mode, "--quiet", "--json", "run.json")
                self.assertEqual(self.result().get("ended_early"), ending)

    def test_the_report_is_printed(self):
        done = self.run_program("_exit")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"(?s)kernel 2: work.*work on {DEFAULT_MACHINE}|ending on {DEFAULT_MACHINE}")

    def test_what_no_journal_has_is_told(self):
        for name, options in (("p.json", ("--profile-json", "p.json")), ("t.json", ("--timeline", "t.json")), ("u.csv", ("--per-unit-csv", "u.csv")),
                              ("l1d", ("--record-l1d", "l1d")), ("p.csv", ("--policies", "p.csv"))):
            with self.subTest(name):
                path = self.folder / name
                path.write_text("old", encoding="utf-8")
                done = self.run_program("_exit", "--quiet", *options)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"^tyto: error: \S*/{name} is not written: ending ended by _exit or exec\n$")
                self.assertEqual(path.read_text(encoding="utf-8"), "old")
        for option in (("--profile",), ("--per-unit",), ("--sample", "10")):
            done = self.run_program("_exit", "--quiet", "--json", "run.json", *option)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"tyto: error: {option[0]}: the requested data are missing: ending ended by _exit or exec\n"))

    def test_files_that_hold_one_process_of_several_are_told(self):
        done = self.run_program("exec_again", "--quiet", "--profile-json", "p.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("p.json", done.stderr)

    def test_a_file_of_processes_with_other_options_is_told(self):
        script = '"$0" return; TYTO_OPTIONS="$TYTO_OPTIONS --scheduler lrr" "$0" return'
        done = run_command([TYTO, "run", "--quiet", "--json", "run.json", "sh", "-c", script, ENDING], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^tyto: error: \S*/run.json only has the results of one process: others had other options\n$")
        self.assertEqual(self.result()["scheduler"], "lrr")

    def test_a_process_that_goes_on_is_told(self):
        script = '"$0" interrupted >ready 2>/dev/null & while ! grep -qs ready ready; do :; done; echo $! >number'
        done = run_command([TYTO, "run", "--quiet", "--json", "run.json", "sh", "-c", script, ENDING], cwd=self.folder,
                              env=self.environment, stderr=subprocess.PIPE, text=True, check=False, timeout=SECONDS)
        os.kill(int((self.folder / "number").read_text(encoding="utf-8")), signal.SIGKILL)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^tyto: error: process \d+ \(ending\) still runs: the results have what it launched so far\n$")
        self.assertEqual(self.blocks(), [1, 2])

    def test_launches_that_wait_are_told(self):
        done = self.run_program("waiting", "--quiet", "--json", "run.json")
        self.assertEqual((done.returncode, done.stderr), (1, "tyto: error: ending ended by _exit or exec while 1 launch waited in streams: "
                                                             "no result has them\n"))
        self.assertEqual(self.blocks(), [1, 2])

    def test_a_launch_that_was_under_way_is_told(self):
        (self.folder / "leaving.c").write_text(LEAVING, encoding="utf-8")
        done = self.run_program("return", "--quiet", "--json", "run.json", "--scheduler", "./leaving.c")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^tyto: error: warp scheduler \./leaving\.c: cycle \d+, SM \d+: pick was under way when exit was called\n"
                                      r"tyto: error: ending ended by _exit or exec in a launch of work, which no result contains\n$")
        self.assertEqual(self.blocks(), [1])

    def test_a_program_without_cuda_is_told(self):
        self.file.write_text("old", encoding="utf-8")
        done = self.run_program("nothing", "--quiet", "--json", "run.json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^tyto: error: \S*/run.json is not written: the program ended without using CUDA\n$")
        self.assertEqual(self.run_program("nothing", "--quiet").returncode, 0)
        done = self.run_program("nothing 7", "--quiet", "--json", "run.json")
        self.assertEqual((done.returncode, done.stderr), (7, ""))  # the program failed, and reported the reason itself

    def test_a_program_that_leaves_a_process_is_told(self):
        script = "sleep 60 </dev/null >/dev/null 2>&1 & echo $! >number"
        for options, status, said in (((), 0, r"tyto: note: no process of the program has used CUDA so far; process \d+ \((?:sh|sleep)\) still runs, "
                                              r"and what it does is in no result\n"),
                                      (("--quiet", "--json", "run.json"), 1, r"tyto: error: \S*/run.json is not written: no process of "
                                       r"the program has used CUDA so far; process \d+ \((?:sh|sleep)\) still runs, and what it does is in no result\n")):
            done = run_command([TYTO, "run", *options, "sh", "-c", script], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, check=False, timeout=SECONDS)
            os.kill(int((self.folder / "number").read_text(encoding="utf-8")), signal.SIGKILL)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, f"^{said}$")

    def test_what_the_checks_found_is_in_the_result(self):
        done = self.run_program("wrong", "--quiet", "--on-fault", "report", "--json", "run.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        (error,) = self.result()["errors"]
        self.assertEqual((error["check"], error["kernel"], error["count"]), ("memory", "wrong", 64))

    def test_standard_output_holds_the_result(self):
        for mode in ("return", "_exit", "crash"):
            done = self.run_program(mode, "--quiet", "--json", "-")
            self.assertEqual([kernel["grid"][0] for kernel in json.loads(done.stdout)["kernels"]], [1, 2], mode)

    def test_a_folder_in_the_place_of_the_result(self):
        self.file.mkdir()
        done = self.run_program("_exit", "--quiet", "--json", "run.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("Is a directory", done.stderr)

    def test_the_options_hold_in_an_empty_environment(self):
        done = self.run_program("bare", "--quiet", "--machine", "owl", "--json", "run.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.result()["machine"], "owl")

    def test_signals_reach_the_program(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                process = subprocess.Popen([TYTO, "run", "--quiet", "--json", "run.json", ENDING, "interrupted"], cwd=self.folder,
                                           env=self.environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(SECONDS), -number)
                process.stdout.close()
                self.assertEqual(self.blocks(), [1, 2])
                self.assertNotIn("ended_early", self.result())

    def test_a_cancelled_thread_keeps_no_lock(self):
        for timing in ("--functional", "--machine=gtx480"):
            done = self.run_program("cancelled", "--quiet", timing, "--json", "run.json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.blocks()[-1], 2)

    def test_a_signal_ends_a_program_whose_thread_has_left_a_call(self):
        process = subprocess.Popen([TYTO, "run", "--quiet", "--functional", ENDING, "left"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.assertIn("tyto: error: a CUDA call does not return: no report is written\n", process.communicate(timeout=SECONDS)[1])
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_the_program_dies_with_the_command(self):
        process = subprocess.Popen([TYTO, "run", "--quiet", ENDING, "interrupted"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.kill()
        process.wait(SECONDS)
        self.assertEqual(process.stdout.read(), "")  # the other end of the pipe is closed
        process.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
