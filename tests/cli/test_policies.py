#!/usr/bin/env python3
"""User-defined policies, through the command: they run and are compared like built-in ones. A policy that crashes or
never returns is named.

usage: test_policies.py TYTO PLUGINS SPIN_PTX          PLUGINS: the folder of the shared objects
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
from tyto_runs import hear_signals, run_command  # noqa: E402 (found by the line above)

hear_signals()
TYTO, PLUGINS, SPIN = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
HAS_SANITIZER = b"__asan_init" in (TYTO.parent / "libtyto.so").read_bytes()
VECADD = ("vecadd", "--size", "3000")
SECONDS = 60


def run(*words, **options):
    return run_command([TYTO, *words], capture_output=True, text=True, check=False, timeout=SECONDS,
                          env=PLAIN, **options)


class Policies(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for plugin in PLUGINS.glob("*.so"):
            (self.folder / plugin.name.removeprefix("cli_")).symlink_to(plugin)

    def tyto(self, *words):
        return run(*words, cwd=self.folder)

    def test_both_kinds_run_by_their_paths_and_are_reported_so(self):
        done = self.tyto("run", "--scheduler", "./turns.so:length=4", "--cta-scheduler", "./neighbours.so:group=4",
                         "--json", "r.json", *VECADD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warps by ./turns.so:length=4, CTAs by ./neighbours.so:group=4", done.stderr)
        result = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual((result["scheduler"], result["cta_scheduler"]),
                         ("./turns.so:length=4", "./neighbours.so:group=4"))

    def test_the_policy_of_the_guide_moves_its_limit_and_keeps_its_least(self):
        for least in (2, 48):
            done = self.tyto("run", "--quiet", "--machine", "ccws", "--scheduler", f"./climb.so:epoch=256,least={least}", "--policies", "p.csv",
                             "--json", "r.json", "spmv", "--size", "test")
            self.assertEqual(done.returncode, 0, done.stderr)
            total = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["total"]
            self.assertEqual(total["throttled"] > 0, least == 2)

    def test_a_path_may_be_long(self):
        name = "n" * 150 + ".so"
        (self.folder / name).symlink_to(PLUGINS / "cli_neighbours.so")
        done = self.tyto("run", "--cta-scheduler", f"./{name}:group=3", "--quiet", *VECADD)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def compare(self, *words):
        done = self.tyto("compare", "--json", "c.json", *words, *VECADD)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = json.loads((self.folder / "c.json").read_text(encoding="utf-8"))["runs"]
        return done.stdout, [(run["scheduler"], run["cta_scheduler"]) for run in runs]

    def test_cta_schedulers_are_compared_as_warp_schedulers_are(self):
        ctas = ["round-robin", "limit", "limit:ctas=2", "./neighbours.so:group=3"]  # limit:ctas=1 is the default
        named = "round-robin,limit:ctas=1..2,./neighbours.so:group=3"
        shown, runs = self.compare("--machine", "gtx480", "--cta-schedulers", named)
        self.assertEqual(runs, [("gto", each) for each in ctas])
        self.assertTrue(shown.startswith("vecadd on gtx480, warps by gto\n\nCTA scheduler "), shown)
        self.assertEqual(re.findall(r"(?m)^(\S+) +\d", shown), ctas)
        shown, runs = self.compare("--schedulers", "lrr,./turns.so", "--cta-schedulers", "round-robin,limit:ctas=2")
        pairs = [(warps, each) for warps in ("lrr", "./turns.so") for each in ("round-robin", "limit:ctas=2")]
        self.assertEqual(runs, pairs)
        self.assertEqual(re.findall(r"(?m)^(\S+ with \S+) +\d", shown), [" with ".join(pair) for pair in pairs])
        shown, _ = self.compare("--schedulers", "lrr,gto", "--cta-schedulers", "limit:ctas=2")
        self.assertEqual(re.findall(r"(?m)^(\S+) +\d", shown), ["lrr", "gto"])

    def test_lists_of_cta_schedulers_are_checked(self):
        for words, message in {
                ("--cta-schedulers", "round-robbin"): "no CTA scheduler 'round-robbin'; did you mean 'round-robin'?",
                ("--cta-schedulers", "limit:ctas=0..2"): "ctas=0: out of bounds (1 to 32)",
                ("--cta-schedulers", "md", "--cta-scheduler", "md"): "cannot both be given",
                ("--cta-schedulers", ","): "--cta-schedulers is empty",
                ("--schedulers", "swl:limit=1..32", "--cta-schedulers", "limit:ctas=1..33"):
                    "--schedulers and --cta-schedulers make more than 1024 runs"}.items():
            done = self.tyto("compare", *words, *VECADD)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def expect_death(self, number, policy, function, *words):
        done = self.tyto(*words)
        self.assertEqual(done.returncode, -number, done.stderr)
        self.assertRegex(done.stderr, rf"tyto: error: {re.escape(policy)}: cycle \d{{3,4}}(, SM \d+)?: {function} was "
                                      rf"under way when signal {number} ended the process")

    def test_a_policy_that_crashes_is_named_with_function_and_cycle(self):
        deaths = {"abort": signal.SIGABRT}
        if not HAS_SANITIZER:  # the sanitizer handles these itself
            deaths |= {"crash": signal.SIGSEGV, "recurse": signal.SIGSEGV}
        for how, number in deaths.items():
            policy = f"./misbehaving.so:how={how}"
            self.expect_death(number, f"warp scheduler {policy}", "pick", "run", "--scheduler", policy, *VECADD)
            self.expect_death(number, f"CTA scheduler {policy}", "choose", "run", "--set", "cta.launch_latency=100",
                              "--cta-scheduler", policy, *VECADD)
            self.expect_death(number, f"warp scheduler {policy}", "pick", "launch", "--scheduler", policy, SPIN)

    def test_a_policy_that_calls_exit_is_named_and_the_status_is_not_its(self):
        lost = "tyto: error: vecadd ended by _exit or exec in a launch of vecadd, which no result contains\n"
        for how in ("exit", "leave"):
            policy = f"./misbehaving.so:how={how}"
            for words, more in ((("run", "--scheduler", policy, *VECADD), lost), (("launch", "--scheduler", policy, SPIN), "")):
                done = self.tyto(*words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"^tyto: error: warp scheduler {re.escape(policy)}: cycle \d+, SM \d+: pick was "
                                              f"under way when exit was called\n{more}$")

    def test_a_policy_that_writes_outside_of_its_state_is_named(self):
        for how, where in (("spill", "past"), ("front", "before"), ("ahead", "before")):
            policy = f"./misbehaving.so:how={how}"
            for option, noun, place, more in (("--scheduler", "warp scheduler", r", SM \d+", ()),
                                              ("--cta-scheduler", "CTA scheduler", "", ("--set", "cta.launch_latency=100"))):
                done = self.tyto("run", option, policy, *more, *VECADD)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, rf"(?m)^tyto: error: {noun} {re.escape(policy)}: cycle \d+{place}: "
                                              rf"has written {where} its state \(state_bytes = 24\)")
        if HAS_SANITIZER:  # the sanitizer handles the signal itself
            return
        for policy in ("./misbehaving.so:how=flood", "./misbehaving.so:how=far"):
            self.expect_death(signal.SIGSEGV, f"warp scheduler {policy}", "pick", "run", "--scheduler", policy, *VECADD)
            self.expect_death(signal.SIGSEGV, f"CTA scheduler {policy}", "choose", "run", "--set",
                              "cta.launch_latency=100", "--cta-scheduler", policy, *VECADD)

    def test_a_policy_that_calls_exit_while_it_is_loaded_is_named(self):
        for words in (("run", "--scheduler", "./leaving.so", *VECADD), ("launch", "--scheduler", "./leaving.so", SPIN),
                      ("compare", "--schedulers", "lrr,./leaving.so", *VECADD), ("cost", "./leaving.so")):
            done = self.tyto(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", "tyto: error: ./leaving.so: calls exit while it is loaded\n"))

    def test_a_program_is_told_that_a_policy_made_its_kernel_fail(self):
        done = self.tyto("run", "--scheduler", "./misbehaving.so:how=wrong", *VECADD)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^tyto: error: warp scheduler \./misbehaving\.so:how=wrong: cycle \d+, SM \d+: "
                                      r"picked warp \d+, which is not a warp slot")
        self.assertIn("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", done.stderr)

    def test_a_thread_that_helps_may_misbehave_too(self):
        """The misbehaviour comes so late that a helper thread steps the SM, if the host has a processor for it."""
        deaths = {"exit": 1}
        if not HAS_SANITIZER:
            deaths |= {"crash": -signal.SIGSEGV, "recurse": -signal.SIGSEGV}
        for how, status in deaths.items():
            policy = f"./misbehaving.so:how={how},at=15000,sm=1"
            done = self.tyto("run", "--machine", "qv100", "--threads", "2", "--scheduler", policy, "matmul",
                             "--rows", "256")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, rf"tyto: error: warp scheduler {re.escape(policy)}: cycle \d+, SM \d+: "
                                          r"\w+ was under way when")

    def test_without_the_command_a_crash_is_the_programs_own(self):
        environment = {**PLAIN, "LD_LIBRARY_PATH": f"{TYTO.parent}/cuda:{TYTO.parent}",
                       "TYTO_OPTIONS": "--quiet --scheduler ./misbehaving.so:how=abort"}
        done = run_command([TYTO.parent / "workloads/vecadd", "--size", "3000"], capture_output=True, text=True,
                              check=False, cwd=self.folder, env=environment, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGABRT, ""))

    def interrupt(self, numbers, *words):
        """Sends the signals, at intervals, to a run that does not return. Returns (status, standard error)."""
        with subprocess.Popen([TYTO, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env=PLAIN) as process:
            for number in numbers:
                try:
                    process.wait(timeout=2)  # it hangs by then, and continues to hang
                    self.fail("the policy returned")
                except subprocess.TimeoutExpired:
                    process.send_signal(number)
            _, said = process.communicate(timeout=SECONDS)
        return process.returncode, said

    def test_a_policy_that_never_returns_is_named_when_interrupted(self):
        policy = "./misbehaving.so:how=loop"
        cases = [((signal.SIGINT,), "pick does not return", "run", "--machine", "gtx480", "--scheduler", policy, *VECADD),
                 ((signal.SIGTERM,), "choose does not return", "run", "--machine", "gtx480", "--set", "cta.launch_latency=100",
                  "--cta-scheduler", policy, *VECADD),
                 ((signal.SIGTERM,), "pick was under way", "launch", "--machine", "gtx480", "--scheduler", policy, SPIN),
                 ((signal.SIGINT, signal.SIGINT), "pick was under way", "launch", "--machine", "gtx480", "--scheduler", policy, SPIN)]
        for numbers, what, *words in cases:
            status, said = self.interrupt(numbers, *words)
            self.assertEqual(status, -numbers[-1], said)
            self.assertRegex(said, rf"tyto: error: (warp|CTA) scheduler {re.escape(policy)}: cycle \d{{3,4}}"
                                   rf"(, SM \d+)?: {what}\n")


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad))
