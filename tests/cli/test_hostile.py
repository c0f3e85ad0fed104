#!/usr/bin/env python3
"""Hostile and damaged input: each input below must end in time, with a status that is not 0 and an error that says what
is wrong. No input may cause a signal, an assertion or a finding of the sanitizers.

usage: test_hostile.py TYTO ROOT WORKLOADS

WORKLOADS is the folder of the built workloads. Inputs are rows of the tables below.
"""
import concurrent.futures
import glob
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import hear_signals  # noqa: E402 (found by the line above)

hear_signals()
TYTO, ROOT, WORKLOADS = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SAXPY = str(ROOT / "tests/cli/saxpy.ptx")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 60  # limit for one command, under sanitizers on a busy machine too
HEADER = ".version 7.5\n.target sm_75\n.address_size 64\n"


def kernel(body, before="", parameters=""):
    return f"{HEADER}{before}\n.visible .entry k({parameters})\n{{\n{body}\n}}\n"


def bomb():
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    return "\n".join(lines)


SWEEP = """programs: [vecadd, 'spmv --rows 300']
machines: [owl, ccws]
set: {l1d.latency: [40, 60], l1d.ways: 4}
schedulers: [lrr, 'swl:limit=1..2']
cta_schedulers: md
sizes: [test, 300]
seeds: 1..2
options: [--memory, 1GiB, --profile]
metrics: [ipc, cycles]
x: l1d.latency
"""
EXPERIMENT = """id: NAME
paper: OURS
place: here
title: one
machine: owl
programs: [{label: A, run: [vecadd, --seed, 2], item: 1}, {label: B, run: spmv}]
setups: [{name: rr, scheduler: lrr}, {name: best, scheduler: [lrr, 'swl:limit=2'], set: l1d.latency=40}]
columns: [{label: C, metric: [ipc, cycles], setup: best, over: rr, form: change}]
means: [{label: M, kind: harmonic, of: [A, B]}]
published: [{column: C, place: there, values: {A: 1.5, M: -3}, bound: least}]
"""
# Replacements for a value or for a piece of a file.
DAMAGE = ("[]", "{}", "", "''", "~", "[[]]", "{a: []}", "-1", "1e999", ".nan", "99999999999999999999", "[owl, owl]", "&a", "*a", "!!int x",
          "\n- ", "\n---\n", ": ", "#", "\t", "\0", "\x80", "..", "9..1", "1..99999", "{size}", "x" * 5000)

# Content of a PTX file, and a part of the error.
BAD_PTX = {
    "": "it must begin with .version",
    "\n" * 100_000: "it must begin with .version",
    "int main() { return 0; }": "it must begin with .version",
    ".version 99.9\n.target sm_75\n": "PTX ISA 99.9 is not supported",
    kernel("{" * 1_000_000): "nested more than",
    kernel("{" * 50_000 + "ret;" + "}" * 50_000): "nested more than",
    kernel("ret;", ".global .u32 x = " + "(" * 300_000 + "1" + ")" * 300_000 + ";"): "nested more than",
    kernel("ret;", ".global .u32 x = " + "-" * 300_000 + "1;"): "nested more than",
    kernel(".reg .u32 %r; mov.u32 %r, " + "~(" * 300_000): "nested more than",
    kernel("a" * 1_000_000 + ": ret;"): "name of more than",
    kernel(".reg .u32 %r; mov.u32 %r, " + "9" * 1_000_000 + ";"): "number does not fit",
    kernel("ret;") + "/* never closed": "is not closed",
    HEADER + '.file 1 "never closed': "is not closed",
    kernel("mov.u32 \u00e9, 1;"): "character that PTX does not use",
    kernel("ret;", ".global .u64 a = b;\n.global .u64 b = a;"): "'b' is not declared",
    kernel("ret;", ".global .b8 a[4611686018427387904];"): "out of range",
    kernel("ret;", ".global .b8 a[99999][99999][99999];"): "too large",
    kernel(".shared .b8 s[100000000]; ret;"): "too large",
    kernel(".local .b8 s[4000000000]; ret;"): "too large",
    kernel("ret;", parameters=".param .b8 p[100000000]"): "too large",
    kernel(".reg .b32 %r<4000000000>; ret;"): "too many registers",
    kernel("ret;") + kernel("ret;")[len(HEADER):]: "is defined twice",
    kernel("bra nowhere;"): "nowhere",
    kernel("L: L: ret;"): "L",
}

# Content of a kernel file, further arguments of `tyto launch`, and a part of the error.
BAD_LAUNCHES = (
    (kernel("call f; ret;", ".func f() { call f; ret; }"), (), "stack overflow"),
    (kernel("call f; ret;", ".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }"), (),
     "stack overflow"),
    (kernel("L: bra L;"), ("--limit-insts", "10000"), "limit of 10000 warp instructions"),
    (kernel("trap;"), (), "trap"),
    (kernel(" " * 3_000_000 + "bogus;"), (), "no instruction 'bogus'"),
    (kernel("bogus;\n" * 50_000), (), "no instruction 'bogus'"),
    (kernel("ret;"), ("--grid", "0"), "--grid 0"),
    (kernel("ret;"), ("--grid", "99999999999999999999"), "--grid 99999999999999999999"),
    (kernel("ret;"), ("--grid", "2147483648"), "must be 1 to 2147483647"),
    (kernel("ret;"), ("--grid", "1,70000"), "must be 1 to 65535"),
    (kernel("ret;"), ("--grid", "1,1,1,1"), "--grid 1,1,1,1"),
    (kernel("ret;"), ("--block", "-1"), "--block -1"),
    (kernel("ret;"), ("--block", "1024,2"), "2048 threads per thread block"),
    (kernel("ret;"), ("--shared", "1000000000"), "shared memory"),
    (kernel("ret;"), ("--memory", "0"), "must lie between 1MiB and"),
    (kernel("ret;"), ("--memory", "99999999999999999999"), "not a size"),
    (kernel("ret;"), ("--stack", "999GiB"), "must lie between"),
    (kernel("ret;"), ("--heap", "900GiB", "--memory", "-1"), "--memory -1"),
    (kernel("ret;"), ("--registers", "100000"), "must lie between 0 and 255"),
    (kernel("ret;"), ("--limit-insts", "-1"), "not a whole number"),
    (kernel("ret;"), ("--dump-registers", "0"), "--dump-registers 0"),
    (kernel("ret;"), ("--cooperative", "--grid", "100000"), "cooperative"),
    (kernel("ret;"), ("--arg", "u32:1"), "takes 0 arguments, 1 is given"),
    (kernel("ret;"), ("--kernel", "none"), "no kernel none"),
    (kernel("ret;", parameters=".param .u64 p"), ("--arg", "zero:99999999999999"), "out of device memory"),
    (kernel("ret;", parameters=".param .u64 p"), ("--arg", "zero:0"), "--arg zero:0"),
    (kernel("ret;", parameters=".param .u64 p"), ("--arg", "u64:18446744073709551616"), "does not fit"),
    (kernel("ret;", parameters=".param .u64 p"), ("--arg", "in:/none"), "cannot read /none"),
    (kernel("ret;", parameters=".param .u64 p"), ("--arg", "u8:1"), "--arg u8:1"),
)

# Options of `tyto run` before a workload, and a part of the error.
BAD_RUNS = (
    (("--scheduler", "gto:x=1"), "no gto parameter 'x'"),
    (("--scheduler", "two-level:group=0"), "out of bounds"),
    (("--scheduler", "swl:limit=99999999999999999999"), "out of bounds"),
    (("--scheduler", ":::,,,==="), "no warp scheduler"),
    (("--scheduler", "/bin/ls"), "no shared object"),
    (("--scheduler", "/tmp"), "no shared object"),
    (("--cta-scheduler", "limit:ctas=0"), "out of bounds"),
    (("--set", "gpu.sms=0"), "gpu.sms: must be"),
    (("--set", "gpu.sms=99999999999999999999"), "gpu.sms"),
    (("--set", "l1d.size=0 KiB"), "l1d.size"),
    (("--set", "l1d.line=3 B"), "l1d.line"),
    (("--set", "="), "no such key"),
    (("--set", "l1d.miss_queue=1"), "a miss may send two requests"),
    (("--set", "fetch.code_base=4"), "not a multiple of fetch.instruction"),
    (("--set", "fetch.instruction=13 B"), "not a power of two"),
    (("--machine", "/dev/zero"), "/dev/zero"),
    (("--machine", "/bin/ls"), "not YAML"),
    (("--machine", "/"), "/: error"),
    (("--sample", "-1"), "not a whole number"),
    (("--json", "/"), "Is a directory"),
    (("--json", ""), "cannot be empty"),
    (("--csv", "one", "--timeline", "two", "--json", "one"), "one: error: both --json and --csv write this file"),
    (("--csv", "-", "--json", "-"), "standard output: error: both --json and --csv write this file"),
    *(((option, "/dev/full"), "/dev/full: error: cannot be written")
      for option in ("--json", "--csv", "--ctas", "--timeline", "--policies", "--profile-json", "--per-unit-csv", "--snapshot")),
    (("--per-unit-csv", ""), "cannot be empty"),
    (("--snapshot", "/"), "Is a directory"),
    (("--per-unit=yes",), "--per-unit"),
    (("--profile=1",), "--profile"),
    (("--live=99999999",), "--live"),
    (("--live=-1",), "--live"),
)

# Content of a machine file, and a part of the error.
BAD_MACHINES = {
    "": "holds sections",
    "base: ./machine.yaml\nname: x\n": "in a circle",
    bomb(): "no anchors",
    "a: " + "[" * 100_000: "error",
    "base: owl\nname: x\ngpu:\n  sms: 3\n  sms: 4\n": "given a second time",
    "base: owl\nname: x\ngpu:\n  sms: .nan\n": "takes a whole number",
    "base: owl\nname: x\nl1d:\n  size: 3 B\n": "error",
    "\x00\x01\x02": "not YAML",
}

# Commands whose standard output is a full disk.
FULL = (("--version",), ("help",), ("help", "run"), ("help", "--man"), ("machines",), ("machines", "owl"),
        ("schedulers",), ("cost", "pro"), ("ptx", SAXPY), ("ptx", "--dot", SAXPY),
        ("compare", "--schedulers", "lrr", "vecadd", "--size", "100"), ("run", "vecadd", "--size", "100"))


ONE_RUN = """
id: one
paper: OURS
title: one run
place: here
machine: owl
programs: [{label: A, run: vecadd}]
setups: [{name: rr, scheduler: lrr}]
columns: [{label: CYCLES, metric: cycles, setup: rr, form: number}]
"""


class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, words, **options):
        options = {"stdout": subprocess.PIPE, **options}
        return subprocess.run([TYTO, *words], stderr=subprocess.PIPE, check=False, cwd=self.folder,
                              env=PLAIN, timeout=SECONDS, **options)

    def refuse(self, words, part, **options):
        """Checks that `tyto WORDS` fails with `part` in its error."""
        done = self.run_command(words, **options)
        said = done.stderr.decode(errors="replace")
        name = " ".join(map(str, words))[:200]
        self.assertIn(done.returncode, (1, 2), f"{name}\n{said[:2000]}")
        self.assertNotRegex(said, "Sanitizer|runtime error:|Assertion", name)
        self.assertIn(part, said, name)
        return said

    def refuse_all(self, rows):
        """Calls `refuse` for (words, part) of all rows, several at once."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(lambda row: self.refuse(*row), rows):
                pass

    def write(self, number, text):
        path = self.folder / f"{number}.ptx"
        path.write_text(text, encoding="utf-8")
        return path.name

    def test_ptx_that_is_none(self):
        self.refuse_all([(("ptx", self.write(number, text)), part)
                         for number, (text, part) in enumerate(BAD_PTX.items())])

    def test_files_that_are_no_text(self):
        (self.folder / "random.ptx").write_bytes(random.Random(1).randbytes(300_000))
        for name, part in (("random.ptx", "cannot read this"), ("/bin/ls", "cannot read this"),
                           ("/", "Is a directory"), ("/none", "No such file"), ("/dev/null", ".version")):
            for command in (("ptx",), ("launch", "--functional")):
                self.refuse((*command, name), part)

    def test_ptx_cut_off_or_damaged_anywhere(self):
        """A truncated file is refused unless nothing relevant was cut off. Damage may result in other valid PTX."""
        draw = random.Random(2)
        texts = [path.read_bytes() for path in sorted(WORKLOADS.glob("*.ptx"))]
        rows = []
        for number, text in enumerate(draw.sample(texts, min(10, len(texts)))):
            for cut in draw.sample(range(len(text)), 6):
                rows.append((f"cut{number}-{cut}.ptx", text[:cut]))
            for place in draw.sample(range(len(text) - 8), 6):
                rows.append((f"hit{number}-{place}.ptx",
                             text[:place] + draw.randbytes(8) + text[place + 8:]))

        def read(row):
            (self.folder / row[0]).write_bytes(row[1])
            return row, self.run_command(("ptx", row[0]))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (name, text), done in pool.map(read, rows):
                said = done.stderr.decode(errors="replace")
                self.assertNotRegex(said, "Sanitizer|runtime error:|Assertion", name)
                self.assertIn(done.returncode, (0, 1), f"{name}\n{said[:2000]}")
                if done.returncode:
                    self.assertRegex(said, rf"(?m)^{name}:\d+:\d+: error: ")
                elif name.startswith("cut"):
                    self.assertEqual(text.count(b"{"), text.count(b"}"), name)

    def test_sweeps_and_experiments_damaged_anywhere(self):
        """Each file is accepted, or refused with what is wrong. No run is started for accepted files."""
        draw = random.Random(3)
        rows = []
        for command, text, words in (("sweep", SWEEP, ()), ("reproduce", EXPERIMENT, ("--size", "test"))):
            values = [match.span() for match in re.finditer(r"\[[^][]*\]|\{[^{}]*\}|(?<=: )[^][{}:,\n]+", text)]
            places = [(span, damage) for span in values for damage in ("[]", draw.choice(DAMAGE))]
            places += [((start, start + draw.randrange(12)), draw.choice(DAMAGE)) for start in draw.choices(range(len(text)), k=30)]
            for (start, end), damage in places:
                rows.append((command, words, f"file{len(rows)}.yaml", text[:start] + damage + text[end:]))

        def read(row):
            command, words, name, text = row
            (self.folder / name).write_text(text.replace("NAME", name[:-5]), encoding="latin-1")
            return row, self.run_command((command, f"./{name}", *words, "--stored"))

        for whole in (("sweep", (), "whole.yaml", SWEEP), ("reproduce", ("--size", "test"), "one.yaml", EXPERIMENT)):
            self.assertEqual(read(whole)[1].returncode, 1, whole)  # accepted; none of its runs is stored

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (_, _, name, text), done in pool.map(read, rows):
                said = done.stderr.decode(errors="replace")
                self.assertNotRegex(said, "Sanitizer|runtime error:|Assertion", text)
                self.assertIn(done.returncode, (0, 1, 2), f"{text}\n{said[:2000]}")
                if done.returncode == 2:
                    self.assertRegex(said, rf"(?m)^\./{name}(:\d+:\d+)?: error: |^tyto: error: the sweep has more than ", text)

    def test_launches_that_cannot_be(self):
        self.refuse_all([(("launch", "--quiet", "--code", "ptx", *words, self.write(number, text)), part)
                         for number, (text, words, part) in enumerate(BAD_LAUNCHES)])

    def test_arguments_that_do_not_fit_the_kernel(self):
        for count in (0, 1, 3, 5, 100):
            self.refuse(("launch", SAXPY, *["--arg", "u32:1"] * count), f"takes 4 arguments, {count} ")
        self.refuse(("launch", SAXPY, *["--arg", "f64:1"] * 4), "has 8 bytes")

    def test_runs_with_absurd_options(self):
        self.refuse_all([(("run", *words, "vecadd", "--size", "10000"), part)
                         for words, part in BAD_RUNS])
        self.refuse(("run", "--memory", "1MiB", "vecadd", "--size", "1000000"), "OUT_OF_MEMORY")
        self.refuse(("run", "--machine", "md", "wgemm", "--size", "test"), "wgemm: its tiles take 61440 bytes of shared memory")

    def test_machine_files_that_are_none(self):
        for text, part in BAD_MACHINES.items():
            (self.folder / "machine.yaml").write_text(text, encoding="utf-8")
            self.refuse(("machines", "./machine.yaml"), part)

    def test_a_file_without_an_end(self):
        for command in ("ptx", "launch", "reproduce"):
            self.refuse((command, "/dev/zero"), "cannot read /dev/zero: File too large")

    def test_an_umask_that_takes_all_rights(self):
        done = subprocess.run(["sh", "-c", f"umask 777; exec {TYTO} compare vecadd"], cwd=self.folder, text=True,
                              env={**PLAIN, "TMPDIR": str(self.folder)}, capture_output=True, check=False, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr, os.listdir(self.folder)),
                         (1, f"tyto: error: cannot make a folder in {self.folder}: Permission denied\n", []))

    def test_a_full_disk(self):
        for words in FULL:
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = self.run_command(words, stdout=full)
            if words[0] == "run":  # the workload itself writes, and sets the status
                self.assertNotEqual(done.returncode, -signal.SIGSEGV)
            else:
                self.assertEqual((done.returncode, done.stderr.decode()),
                                 (1, "tyto: error: cannot write to standard output\n"), words)

    def test_too_little_memory_on_the_host(self):
        if b"__asan_init" in (TYTO.parent / "libtyto.so").read_bytes():
            self.skipTest("the sanitizer needs terabytes of addresses")
        done = subprocess.run(["sh", "-c", f"ulimit -v 200000; exec {TYTO} run vecadd"], env=PLAIN,
                              capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^error: cannot reserve \d+ bytes of device memory: choose less \(--memory SIZE\)\n$")
        self.assertEqual(done.stdout, "")

    def outputs(self):
        """Output files of the programs that a command has started.

        This does not use pathlib's glob, which fails at a folder that another command removes.
        """
        return set(glob.glob(f"{self.folder}/.*/*.out"))

    def interrupt(self, number, is_group):
        """Interrupts a comparison. Returns its status and what it left in the temporary folder."""
        with subprocess.Popen([TYTO, "compare", "spmv", "--size", "262144"], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, start_new_session=True, text=True,
                              env={**PLAIN, "TMPDIR": str(self.folder)}) as process:
            while not self.outputs():  # until the first program has started
                time.sleep(0.05)
            time.sleep(0.3)
            (os.killpg if is_group else os.kill)(process.pid, number)
            _, said = process.communicate(timeout=SECONDS)
        self.assertIn("interrupted: nothing is compared", said)
        self.assertRaises(ProcessLookupError, os.killpg, process.pid, 0)  # no program still runs
        return process.returncode, os.listdir(self.folder)

    def test_an_interrupted_comparison_leaves_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for is_group in (True, False):  # as Ctrl-C does, and as kill does
                self.assertEqual(self.interrupt(number, is_group), (-number, []))

    def compare_for_minutes(self):
        before = self.outputs()
        process = subprocess.Popen([TYTO, "compare", "spmv", "--size", "262144"], stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, start_new_session=True,
                                   env={**PLAIN, "TMPDIR": str(self.folder)})
        while self.outputs() <= before:
            time.sleep(0.05)
        return process

    def kill(self, process):
        """Kills only the command, and checks that the programs that it started end too."""
        process.kill()
        process.wait()
        for _ in range(100):
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
        self.fail("its runs go on")

    def test_a_comparison_that_is_killed_takes_its_runs_along(self):
        self.kill(self.compare_for_minutes())

    def test_what_a_killed_command_left_goes_with_the_next_and_nothing_else(self):
        environment = {**PLAIN, "TMPDIR": str(self.folder)}
        (self.folder / "one.yaml").write_text(ONE_RUN, encoding="utf-8")
        ours = {"one.yaml", "runs"}
        self.kill(self.compare_for_minutes())
        left = set(os.listdir(self.folder)) - ours
        self.assertTrue(left)  # the comparison's folder, and one for each run in progress
        others = (".tyto-scratch-shared", ".tyto-scratch-notes1-2", "tyto-scratch-abcdef")
        for name in others:
            (self.folder / name).mkdir(0o755 if name == others[0] else 0o700)
            (self.folder / name / "mine").touch()
        at_work = self.compare_for_minutes()
        used = set(os.listdir(self.folder)) - {*left, *others, *ours}
        small = {"compare": ("--schedulers", "lrr", "vecadd", "--size", "32"),
                 "reproduce": (self.folder / "one.yaml", "--size", "test", "--database", self.folder / "runs")}
        for command, words in small.items():
            subprocess.run([TYTO, command, *words], env=environment, capture_output=True, check=False, timeout=SECONDS)
            now = set(os.listdir(self.folder)) - ours
            self.assertLessEqual({*used, *others}, now, command)
            self.assertFalse(now & {*left, ".tyto-scratch-0killd"}, command)
            self.assertTrue(all((self.folder / name / "mine").exists() for name in others))
            killed = self.folder / ".tyto-scratch-0killd"  # for the second command
            killed.mkdir(0o700)
            (killed / "0.out").touch()
        self.assertTrue(used)
        self.kill(at_work)

    def test_a_second_interrupt_ends_a_comparison_of_deaf_programs(self):
        deaf = self.folder / "deaf"
        deaf.write_text("#!/bin/sh\ntrap '' INT TERM\necho > ready$$\nwhile :; do :; done\n", encoding="utf-8")
        deaf.chmod(0o755)
        with subprocess.Popen([TYTO, "compare", "--jobs", "1", "./deaf"], cwd=self.folder, env=PLAIN,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            while not list(self.folder.glob("ready*")):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_an_interrupted_run_tells_what_it_did(self):
        words = [TYTO, "run", "--machine", "gtx480", "--json", "r.json", "spmv", "--size", "262144"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, cwd=self.folder, text=True,
                              env=PLAIN) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertIn("incomplete: interrupted; the figures are those so far", said)
        self.assertGreater(int(re.search(r"cycles +([\d,]+)", said).group(1).replace(",", "")), 0)
        self.assertIn('"status": "interrupted"', (self.folder / "r.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad))
