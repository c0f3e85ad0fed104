#!/usr/bin/env python3
"""The tyto command as users see it: its output and its exit status.

usage: test_cli.py TYTO ROOT LAUNCHER

TYTO is the command in its build folder, ROOT the source tree, LAUNCHER a small program on the driver
API (tests/cli/launcher.c).
"""
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import DEFAULT_MACHINE as DEFAULT, hear_signals, many_runs, run_command, thinned  # noqa: E402 (found by the line above)

hear_signals()
TYTO, ROOT, LAUNCHER = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
HERE = ROOT / "tests" / "cli"
SAXPY = HERE / "saxpy.ptx"
SPIN = HERE / "spin.ptx"
COMMANDS = ("run", "compare", "launch", "cc", "ptx", "disasm", "machines", "schedulers", "cost", "cache", "help", "reproduce", "sweep", "workloads", "metrics",
            "explain", "report")
SHARED_SIZES = '''.version 9.0
.target sm_80
.address_size 64
.visible .entry size(.param .u64 to) {
    .reg .b64 %to; .reg .b32 %s<3>; .shared .b8 fixed[100];
    ld.param.u64 %to, [to];
    mov.u32 %s0, %total_smem_size;
    mov.u32 %s1, %dynamic_smem_size;
    mov.u32 %s2, fixed;
    add.u32 %s1, %s1, %s2;
    st.global.v2.u32 [%to], {%s0, %s1};
    ret;
}
'''
# A kernel that takes a hundred times as long on a machine as functionally: a forecast is there early, on busy hosts too.
LONG = '''.version 7.5
.target sm_75
.address_size 64
.visible .entry loop(.param .u64 words) {
    .reg .b32 %i; .reg .pred %more; .reg .b64 %at, %own;
    ld.param.u64 %at, [words];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %own, %i, 128;
    add.u64 %at, %at, %own;
    mov.u32 %i, 500000;
again:
    red.global.add.u32 [%at], %i;
    sub.u32 %i, %i, 1;
    setp.ne.u32 %more, %i, 0;
    @%more bra again;
    ret;
}
'''
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}


def processor_seconds(pid):
    """Processor time of a process and its children; 0 if it has ended meanwhile."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(processor_seconds, children))


def let_spin(process):
    """Waits until a command runs its endless kernel, however slow the host: nothing before it takes as long."""
    while process.poll() is None and processor_seconds(process.pid) < 1:
        time.sleep(0.05)


class Case(unittest.TestCase):
    def on_terminal(self, columns, *words):
        """The output of a command on a terminal of `columns` columns."""
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([TYTO, *words], stderr=side, stdout=subprocess.DEVNULL, env=PLAIN, cwd=self.path) as process:
            os.close(side)
            said = b""
            with contextlib.suppress(OSError):  # reading fails after the last output, when the other side is closed
                while more := os.read(main, 65536):
                    said += more
            self.assertEqual(process.wait(timeout=60), 0)
        os.close(main)
        return said.decode()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def tyto(self, *words, is_timed=False, **options):
        """Runs the command; kernels are not timed unless `is_timed`."""
        environment, cwd = {**PLAIN, **options.pop("environment", {})}, options.pop("cwd", self.path)
        if words and words[0] in ("run", "launch") and not is_timed:
            words = (words[0], "--functional", *words[1:])
        return run_command([TYTO, *map(str, words)], capture_output=True, text=True, check=False,
                              cwd=cwd, env=environment, timeout=120, **options)

    def check(self, done, status, *parts):
        """Checks that `done` ended with `status` and that its standard error contains each of `parts`."""
        self.assertEqual(done.returncode, status, f"{done.stdout}{done.stderr}")
        for part in parts:
            self.assertIn(part, done.stderr)
        # no crash or sanitizer error after the message
        self.assertNotIn("AddressSanitizer", done.stderr)

    def floats(self, name, values):
        (self.path / name).write_bytes(struct.pack(f"{len(values)}f", *values))


class Help(Case):
    def test_overview(self):
        for words in ([], ["--help"], ["help"], ["-h"]):
            done = self.tyto(*words)
            self.assertEqual(done.returncode, 0 if words else 2)
            for command in COMMANDS:
                self.assertRegex(done.stdout, rf"(?m)^  {command} ")

    def test_command_pages(self):
        for command in COMMANDS:
            page = self.tyto("help", command)
            self.check(page, 0)
            self.assertEqual(page.stdout, self.tyto(command, "--help").stdout)
            self.assertIn(f"usage: tyto {command}", page.stdout)
            self.assertEqual([line for line in page.stdout.splitlines() if len(line) > 100], [])
        self.assertRegex(self.tyto("help", "run").stdout, r"\n  --kernels NAME\[,NAME\.\.\.\]    Time only .*; the\n {30}others run functionally\.\n")

    def test_the_version_is_that_of_meson_build_and_in_the_changelog(self):
        version = re.search(r"(?m)^  version: '(\d+\.\d+\.\d+)'", (ROOT / "meson.build").read_text()).group(1)
        self.assertEqual(self.tyto("--version").stdout, f"tyto {version}\n")
        changes = (ROOT / "CHANGELOG.md").read_text()
        self.assertRegex(changes, rf"(?m)^(## {version} - \d{{4}}-\d\d-\d\d|This will be {version}[ ,.])")
        kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        for release in changes.split("\n## ")[1:]:
            there = re.findall(r"(?m)^### (.*)$", release)
            self.assertEqual(there, [kind for kind in kinds if kind in there])
            self.assertIn("Changed" if "results change" in release else there[0], there)

    def test_manual_is_up_to_date(self):
        page = self.tyto("help", "--man").stdout
        stored = ROOT / "docs" / "tyto.1"
        if os.environ.get("TYTO_BLESS"):
            stored.write_text(page, encoding="utf-8")
        self.assertEqual(page, stored.read_text(encoding="utf-8"),
                         "docs/tyto.1: TYTO_BLESS=1 rewrites it")

    def test_every_option_is_documented(self):
        page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("command.md", "options.md", "sweep.md"))
        for command in COMMANDS:
            self.assertIn(f"tyto {command}", page)
            for option in re.findall(r"(?m)^  (--[a-z-]+)", self.tyto("help", command).stdout):
                self.assertIn(f"`{option}", page)

    @many_runs
    def test_commands_of_many_runs_name_no_option_that_they_refuse(self):
        for command in ("compare", "sweep"):
            for option in re.findall(r"(?m)^  (--[a-z0-9-]+)", self.tyto("help", command).stdout):
                value = [] if option in ("--retry", "--stored", "--watch") else ["x"]
                self.assertNotIn("is not an option of", self.tyto(command, option, *value, "nowhere").stderr, option)
            self.check(self.tyto(command, "--scheduler", "gto", "vecadd"), 2, "--scheduler is not an option of")
            self.check(self.tyto(command, "--timelin", "x", "vecadd"), 2, f"tyto help {command} lists them all")

    def test_suggestions(self):
        self.check(self.tyto("lauch"), 2, "did you mean 'launch'?")
        self.check(self.tyto("quxquux"), 2, "tyto help lists them")
        self.check(self.tyto("help", "nothing"), 2, "no command 'nothing'")
        self.check(self.tyto("run", "--memroy", "1G", "x"), 2, "did you mean '--memory'?")
        self.check(self.tyto("run", "--size", "10", "vecadd"), 2, "a program's options follow its name: tyto run vecadd --size 10")
        self.check(self.tyto("run", "--size=10", "vecadd"), 2, "a program's options follow its name: tyto run vecadd --size=10")
        self.check(self.tyto("run", "--sheduler", "gto", "vecadd"), 2, "did you mean '--scheduler'?")
        self.check(self.tyto("run", "--size", "10"), 2, "a program's options follow its name")
        self.check(self.tyto("ptx", "--quiet", SAXPY), 2, "has no option --quiet")


class Ptx(Case):
    def test_listing(self):
        done = self.tyto("ptx", SAXPY)
        self.check(done, 0)
        self.assertRegex(done.stdout, r"saxpy +\d+ +0 +0 +4 \(24 B\) +18 +4\n")

    def test_json(self):
        listing = json.loads(self.tyto("ptx", "--json", SAXPY).stdout)
        kernel = listing["kernels"][0]
        self.assertEqual(kernel["name"], "saxpy")
        self.assertEqual([p["size_bytes"] for p in kernel["parameters"]], [4, 4, 8, 8])

    def test_dot(self):
        done = self.tyto("ptx", "--dot", "--kernel", "saxpy", SAXPY)
        self.check(done, 0)
        self.assertIn("digraph", done.stdout)
        self.check(self.tyto("ptx", "--dot", "--kernel", "sxpy", SAXPY), 1, "did you mean 'saxpy'?")

    def test_standard_input(self):
        done = self.tyto("ptx", "-", input=SAXPY.read_text(encoding="utf-8"))
        self.assertIn("1 kernel", done.stdout)

    def test_mistakes_have_places(self):
        bad = self.path / "bad.ptx"
        bad.write_text(SAXPY.read_text(encoding="utf-8").replace("fma.rn.f32", "fmaa.rn.f32")
                       .replace("%ntid.x", "%n77"), encoding="utf-8")
        done = self.tyto("ptx", bad, SAXPY)
        self.check(done, 1, f"{bad}:15:18: error", f"{bad}:25:5: warning")
        self.assertIn("1 kernel", done.stdout)  # the good file is listed anyway

    def test_names_steer_no_terminal(self):
        """Control characters are replaced in file names in listings, messages and reports, and in quoted text."""
        name = self.path / "\x1b[31mred\x9b.ptx"
        name.write_text(SAXPY.read_text(encoding="utf-8") + '.entry bad() { bogus; }\n.entry worse() { .pragma "x", \x1b; }\n',
                        encoding="utf-8")
        arguments = [word for value in ("u32:8", "f32:2", "zero:64", "zero:64") for word in ("--arg", value)]
        for words, shown in ((("ptx", name), "error: cannot read this"), (("launch", "--functional", name, "--kernel", "k\x1b"), "red")):
            done = self.tyto(*words)
            self.assertIn(shown, done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f]", words)
        name.write_text(SAXPY.read_text(encoding="utf-8") + '.entry bad() { bogus; }\n', encoding="utf-8")
        for words, shown in ((("ptx", name), "?[31mred??.ptx: 2 kernels"),
                             (("launch", "--functional", name, "--kernel", "saxpy", "--block", "8", *arguments), "?[31mred??.ptx on h100"),
                             (("launch", "--machine", "gtx480", name, "--kernel", "saxpy", "--block", "8", *arguments), "?[31mred??.ptx on gtx480"),
                             (("launch", "--functional", name, "--kernel", "saxpy", "--block", "8", *arguments[:-1], "u64:64"), "?[31mred??.ptx:"),
                             (("launch", "--functional", name, "--kernel", "bad"), "kernel bad cannot run")):
            done = self.tyto(*words)
            self.assertIn(shown, done.stdout + done.stderr, words)
            self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f]", words)

    def test_files_that_cannot_be_read(self):
        self.check(self.tyto("ptx", self.path), 1, "Is a directory")
        self.check(self.tyto("ptx", "nowhere.ptx"), 1, "No such file")
        self.check(self.tyto("ptx", "/dev/null"), 1, "/dev/null:1:1: error")
        (self.path / "binary").write_bytes(bytes(range(256)) * 64)
        self.check(self.tyto("ptx", "binary"), 1, "binary:1:1: error")
        self.check(self.tyto("ptx"), 2, "needs FILE")

    def test_full_disk(self):
        for words, status, text in ((("ptx", SAXPY), 1, "cannot write to standard output"),
                                    (("run", "--functional", "--quiet", "vecadd", "--size", "test"), 2,
                                     "vecadd: cannot write the results")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = run_command([TYTO, *words], stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
            self.check(done, status, text)


class Launch(Case):
    def test_result(self):
        self.floats("x", range(8))
        self.floats("y", [1] * 8)
        done = self.tyto("launch", SAXPY, "--block", "8", "--arg", "u32:8", "--arg", "f32:2",
                         "--arg", "in:x", "--arg", "inout:y:out", "--json", "r.json")
        self.check(done, 0, f"\n{SAXPY} on {DEFAULT}, functionally: 1 kernel, 18 warp instructions in ")
        got = struct.unpack("8f", (self.path / "out").read_bytes())
        self.assertEqual(got, tuple(2 * i + 1 for i in range(8)))
        result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(list(result)[-4:], ["kernels", "total", "errors", "host"])
        self.assertEqual(result["total"]["warp_instructions"], 18)
        self.assertEqual(result["total"]["thread_instructions"], 136)
        self.assertEqual(result["kernels"][0]["block"], [8, 1, 1])
        self.assertEqual(result["kernels"][0]["status"], "complete")
        self.assertEqual(set(result["host"]), {"wall_seconds", "cpu_seconds", "untimed_seconds",
                                               "warp_instructions_per_second",
                                               "cycles_per_second", "peak_memory_bytes"})

    def test_same_bytes_twice(self):
        def run(name):
            self.tyto("launch", SAXPY, "--block", "8", "--arg", "u32:8", "--arg", "f32:2", "--arg",
                      "zero:32", "--arg", "out:out:32", "--json", name + ".json")
            result = json.loads((self.path / (name + ".json")).read_text(encoding="utf-8"))
            del result["host"]
            return json.dumps(result), (self.path / "out").read_bytes()

        self.assertEqual(run("a"), run("b"))

    def test_mistakes_in_arguments(self):
        def launch(*arguments):
            return self.tyto("launch", SAXPY, *(w for a in arguments for w in ("--arg", a)))

        self.check(launch("u32:1"), 2, "takes 4 arguments, 1 is given", "3: .u64 x, 8 bytes")
        self.check(launch("u64:1", "f32:1", "zero:4", "zero:4"), 2,
                   "--arg u64:1 has 8 bytes; kernel saxpy takes as argument 1 a .u32 of 4 bytes (n)")
        for word, part in (("u32:x", "not a whole number"), ("u32:-1", "does not fit"),
                           ("u32:4294967296", "does not fit"), ("s32:-2147483649", "does not fit"),
                           ("f32:abc", "not a number"), ("f64:abc", "not a number"), ("zero:0", "number of bytes"),
                           ("zero:-4", "number of bytes"), ("out:x", "a part is missing"),
                           ("out:x:none", "number of bytes"), ("inout::", "a part is missing"),
                           ("int:3", "tyto help launch")):
            self.check(launch(word), 2, part)
        for word, part in (("in:nowhere", "No such file"), ("inout:nowhere:x", "No such file"),
                           ("zero:99999999999999", "out of device"), ("out:x:99999999999999", "out of device"),
                           (f"in:{self.path}", "Is a directory"), ("in:/dev/null", "empty")):
            self.check(launch(word), 1, part)

    def test_an_argument_has_a_place_of_its_own_for_what_it_writes(self):
        def launch(*words, status=2, part=""):
            done = self.tyto("launch", "--quiet", SAXPY, "--arg", "u32:0", "--arg", "f32:1", *words)
            self.check(done, status, part)
            return done

        launch("--json", "-", "--arg", "zero:4", "--arg", "out:-:4",
               part="standard output: both --json and --arg out:-:4 write this file")
        launch("--json", "one", "--arg", "out:one:4", "--arg", "zero:4",
               part="one: both --json and --arg out:one:4 write this file")
        launch("--arg", "out:one:4", "--arg", "out:one:8",
               part="one: both --arg out:one:4 and --arg out:one:8 write this file")
        self.assertFalse((self.path / "one").exists())
        self.assertEqual(launch("--arg", "out:-:4", "--arg", "out:two:8", status=0).stdout, "\0" * 4)

    def test_a_kernel_answers_to_its_name_in_the_source(self):
        text = SAXPY.read_text(encoding="utf-8")
        one, other = (text[text.index(".visible"):].replace("saxpy", name) for name in ("_ZN4math5saxpyIiEEvi", "_Z5saxpyf"))
        (self.path / "one.ptx").write_text(text[:text.index(".visible")] + one + other, encoding="utf-8")
        words = ["--functional", "--arg", "u32:0", "--arg", "f32:1", "--arg", "zero:4", "--arg", "zero:4"]
        for name, mangled in (("math::saxpy", "_ZN4math5saxpyIiEEvi"), ("_Z5saxpyf", "_Z5saxpyf")):
            self.check(self.tyto("launch", "one.ptx", "--kernel", name, "--json", "r.json", *words), 0)
            self.assertEqual(json.loads((self.path / "r.json").read_text())["kernels"][0]["kernel"], mangled)
        self.check(self.tyto("launch", "one.ptx", "--kernel", "saxpy", *words), 2, "one.ptx has no kernel saxpy")  # both kernels have that name
        (self.path / "one.ptx").write_text(text[:text.index(".visible")] + one, encoding="utf-8")
        self.check(self.tyto("launch", "one.ptx", "--kernel", "saxpy", *words), 0)

    def test_mistakes_in_shapes(self):
        fine = ["--arg", "u32:0", "--arg", "f32:1", "--arg", "zero:4", "--arg", "zero:4"]
        for words, status, part in ((["--block", "1025"], 1, "block x is 1025"),
                                    (["--grid", "1,70000"], 1, "grid y is 70000"),
                                    (["--shared", "999999999"], 1, "shared memory"),
                                    (["--block", "0"], 2, "whole numbers above 0"),
                                    (["--block", "1,2,3,4"], 2, "x,y,z"),
                                    (["--grid", "-1"], 2, "whole numbers above 0"),
                                    (["--shared", "much"], 2, "not a whole number"),
                                    (["--grid"], 2, "--grid needs a value"),
                                    (["--kernel", "sxpy"], 2, "did you mean 'saxpy'?"),
                                    (["other.ptx"], 2, "unexpected argument")):
            self.check(self.tyto("launch", SAXPY, *fine, *words), status, part)

    def test_fault(self):
        done = self.tyto("launch", SAXPY, "--block", "32", "--arg", "u32:32", "--arg", "f32:1",
                         "--arg", "zero:64", "--arg", "out:never:128")
        self.check(done, 1, "64-byte allocation", "saxpy.ptx:23: ld",
                   "thread (16,0,0)")
        self.assertFalse((self.path / "never").exists())

    def test_outputs_that_cannot_be_written(self):
        arguments = ["--arg", "u32:0", "--arg", "f32:1", "--arg", "zero:4"]
        self.check(self.tyto("launch", SAXPY, *arguments, "--arg", "out:/dev/full:65536"), 1,
                   "cannot write /dev/full")
        done = self.tyto("launch", SAXPY, *arguments, "--arg", "out:/no/x:4")
        self.check(done, 2, "--arg out:/no/x:4: cannot be written: No such file")
        self.assertNotIn("kernel 1", done.stderr)  # nothing ran
        arguments += ["--arg", "zero:4", "--json"]
        self.check(self.tyto("launch", SAXPY, *arguments, "/no/x.json"), 2, "cannot be written")
        self.check(self.tyto("launch", SAXPY, *arguments, self.path), 2, "Is a directory")
        self.check(self.tyto("launch", SAXPY, *arguments, "/dev/full"), 1, "No space left")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_limits(self):
        done = self.tyto("launch", SPIN, "--limit-insts", "1000")
        self.check(done, 1, "limit of 1000 warp instructions is reached")
        done = self.tyto("launch", SPIN, "--limit-insts", "1")
        self.check(done, 1, "8 registers, 1 warp instruction, failed\n", "the limit of 1 warp instruction is reached\n",
                   ": 1 kernel, 1 warp instruction in ")
        self.check(self.tyto("launch", SPIN, "--stop-after", "1000", is_timed=True), 0, "stopped after ")
        done = self.tyto("launch", SPIN, "--stop-after", "1000", "--quiet", is_timed=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.tyto("launch", "--memory", "1MiB", SAXPY, "--arg", "zero:2000000")
        self.check(done, 1, "out of device memory", "--memory")

    def test_shared_memory_is_told_as_it_is_allocated(self):
        (self.path / "size.ptx").write_text(SHARED_SIZES, encoding="utf-8")
        for unit, total in (("1B", 110), ("128B", 128), ("1KiB", 1024)):
            done = self.tyto("launch", "--machine", "gtx480", "--set", f"shared.granularity={unit}", "size.ptx", "--shared", "10",
                             "--arg", "out:sizes:8", is_timed=True)
            self.check(done, 0)
            self.assertEqual(struct.unpack("2I", (self.path / "sizes").read_bytes()), (total, 10))

    def test_dump(self):
        done = self.tyto("launch", SAXPY, "--block", "8", "--arg", "u32:8", "--arg", "f32:2",
                         "--arg", "zero:32", "--arg", "zero:32", "--dump-registers", "18")
        self.check(done, 0)
        self.assertIn("%r", done.stdout)
        self.assertNotIn("warning", done.stderr)

    def test_a_dump_that_never_comes_is_told(self):
        words = ("launch", SAXPY, "--machine", "gtx480", "--block", "8", "--arg", "u32:8", "--arg", "f32:2", "--arg", "zero:32", "--arg", "zero:32")
        for place, line, cta, warp in (("9999", 9999, 0, 0), ("18:5", 18, 5, 0), ("18:0:9", 18, 0, 9)):
            for is_timed in (False, True):
                done = self.tyto(*words, "--dump-registers", place, is_timed=is_timed)
                self.check(done, 0)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("warning"), 1)
                self.assertIn(f"tyto: warning: --dump-registers {line}:{cta}:{warp}: no launch brought warp {warp} of CTA {cta} to "
                              f"an instruction of line {line}, or to one at offset 0x{line:x} of machine code\n", done.stderr)
        self.assertNotIn("warning", self.tyto(*words, "--dump-registers", "18", is_timed=True).stderr)
        self.assertEqual(self.tyto(*words, "--quiet", "--dump-registers", "9999").stderr, "")

    def test_interrupt(self):
        started = time.monotonic()
        with subprocess.Popen([TYTO, "launch", "--functional", SPIN, "--json", self.path / "r.json"],
                              stderr=subprocess.PIPE, text=True, env=PLAIN) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, error)
        self.assertLess(time.monotonic() - started, 30)
        result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(result["kernels"][0]["status"], "interrupted")
        self.assertGreater(result["total"]["warp_instructions"], 0)


class Run(Case):
    def test_values_of_a_workload_may_stand_behind_an_equals_sign(self):
        words = ("run", "--functional", "--json", "r.json", "vecadd")
        for own, elements, size, seed in ((("--size=300", "--seed=2"), 300, "300", "2"), (("--elements=400", "--size", "test"), 400, "test", "1"),
                                          (("--block=64", "--elements", "500"), 500, "small", "1")):
            self.check(self.tyto(*words, *own), 0)
            result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
            self.assertEqual((result["size"], result["seed"]), (size, seed), own)
            self.assertIn(f"{elements} sums verified", self.tyto(*words, *own).stdout)
        self.check(self.tyto(*words, "--elemets=3"), 2, "unknown option '--elemets'")
        self.check(self.tyto(*words, "--elements="), 2, "--elements: needs a whole number from 1 to 268435456, got ''")
        self.check(self.tyto(*words, "--elements"), 2, "--elements: needs a whole number")

    def test_workload(self):
        done = self.tyto("run", "--verbose", "--json", "r.json", "vecadd", "--size", "1000")
        self.check(done, 0, "tyto: kernel 1: vecadd grid 4,1,1 block 256,1,1:",
                   f"\nvecadd on {DEFAULT}, functionally: 1 kernel, ")
        self.assertEqual(done.stdout, "vecadd: 1000 sums verified\n")
        result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(result["program"], "vecadd")
        self.assertEqual(self.tyto("run", "--quiet", "vecadd", "--size", "10").stderr, "")

    def test_program(self):
        done = self.tyto("run", LAUNCHER, SAXPY, "7")
        self.check(done, 7, f"\n{LAUNCHER.name} on {DEFAULT}, functionally: 1 kernel, ")  # the program's own status
        self.check(self.tyto("run", "true"), 0)
        self.check(self.tyto("run", "--", "sh", "-c", "exit 9"), 9)

    def test_environment(self):
        environment = {"TYTO_OPTIONS": f"--quiet --json '{self.path}/a b.json'"}
        done = self.tyto("run", "--memory=64MiB", LAUNCHER, SAXPY, "0", environment=environment)
        self.check(done, 0)
        self.assertEqual(done.stderr, "")
        self.assertTrue((self.path / "a b.json").exists())
        done = self.tyto("run", "--json", "it's.json", LAUNCHER, SAXPY, "0",
                         environment=environment)  # the command line wins
        self.assertTrue((self.path / "it's.json").exists())
        done = self.tyto("run", LAUNCHER, SAXPY, "0", environment={"TYTO_OPTIONS": "--memroy 3"})
        self.assertIn("TYTO_OPTIONS: error: unknown option --memroy", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    @unittest.skipUnless(shutil.which("clang++-19"), "clang compiles")
    @many_runs
    def test_an_nvcc_that_runs_tyto_cc_has_clang_compile(self):
        (self.path / "bin").mkdir()
        nvcc = self.path / "bin" / "nvcc"
        nvcc.write_text(f'#!/bin/sh\necho called >>"{self.path}/calls"\nexec "{TYTO}" cc "$@"\n', encoding="utf-8")
        nvcc.chmod(0o755)
        (self.path / "nothing.cu").write_text("int main() { return 0; }\n", encoding="utf-8")
        done = self.tyto("cc", "-c", "nothing.cu", "-o", "nothing.o", environment={"PATH": f"{self.path}/bin:{os.environ['PATH']}"})
        self.check(done, 0)
        self.assertEqual((self.path / "calls").read_text(encoding="utf-8"), "called\n")
        self.assertTrue((self.path / "nothing.o").exists())

    @many_runs
    def test_clang_optimizes_kernels_unless_it_is_asked_not_to(self):
        (self.path / "sum.cu").write_text("__global__ void sum(int *to, int n) { for (int i = 0; i < n; i++) to[i] += i; }\n", encoding="utf-8")
        sizes = {}
        for option in ("-O2", "-g", "-O0", "-G"):
            self.check(self.tyto("cc", "--clang", "--cuda-device-only", "-S", option, "sum.cu", "-o", "sum.ptx"), 0)
            text = (self.path / "sum.ptx").read_text(encoding="utf-8")
            sizes[option] = "__local_depot" in text
        self.assertEqual(sizes, {"-O2": False, "-g": False, "-O0": True, "-G": True})

    def test_not_found(self):
        self.check(self.tyto("run", "vecad"), 127, "did you mean 'vecadd'?")
        self.check(self.tyto("run", "nowhere.ptx"), 127, "tyto workloads lists those that come with Tyto")
        for name in ("here.bin", "here.ptx", "here.cu"):
            (self.path / name).touch()
        self.check(self.tyto("run", "here.bin"), 127, "write ./here.bin for a file in this folder")
        self.check(self.tyto("run", "here.ptx"), 127, "'here.ptx' is not a program; it is PTX, use tyto launch")
        self.check(self.tyto("run", "here.cu"), 127, "'here.cu' is not a program; it is source code, use tyto cc")
        self.check(self.tyto("run", "./nothing"), 127, "no program ./nothing")
        self.check(self.tyto("run", SAXPY), 126, "Permission denied; it is PTX, use tyto launch")
        self.check(self.tyto("run"), 2, "needs WORKLOAD|PROGRAM")

    def test_fault(self):
        bad = self.path / "bad.ptx"
        bad.write_text(SAXPY.read_text(encoding="utf-8").replace("%rd4, %rd1", "%rd4, %rd3"),
                       encoding="utf-8")
        done = self.tyto("run", LAUNCHER, bad, "0")
        self.check(done, 1, "the null pointer", "kernel saxpy", "CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertEqual(done.stderr.count("null pointer"), 1)

    def interrupt(self, *options):
        """Presses Ctrl-C in the endless kernel. Returns the messages; the report must exist."""
        with subprocess.Popen([TYTO, "run", "--machine", "gtx480", *options, "--json", self.path / "r.json", LAUNCHER, SPIN, "0"],
                              stderr=subprocess.PIPE, text=True, env=PLAIN) as process:
            let_spin(process)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(result["kernels"][0]["status"], "interrupted")
        return said

    def test_an_interrupt_says_where_warps_stand(self):
        place = re.escape(f"before {SPIN}:7: bra; the first is warp 0 of CTA 0\n")
        self.assertRegex(self.interrupt("--functional"), f"tyto: interrupted\n    kernel spin\n    1 warp ready {place}")
        self.assertRegex(self.interrupt(), "tyto: interrupted\n    kernel spin\n"
                                           f"    1 warp (waiting for [a-z ]*|finding a pipeline full|ready to issue) {place}")

    def test_a_second_interrupt_ends_a_run_whose_report_nobody_reads(self):
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        for words in (("run", "--machine", "gtx480", "--json", pipe, LAUNCHER, SPIN, "0"), ("launch", "--machine", "gtx480", "--json", pipe, SPIN)):
            with subprocess.Popen([TYTO, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                  env=PLAIN) as process:
                let_spin(process)
                process.send_signal(signal.SIGINT)
                said = iter(process.stderr.readline, "")
                self.assertTrue(any("the first is warp 0" in line for line in said), "it ended at once")
                with self.assertRaises(subprocess.TimeoutExpired):  # it waits for a reader of the pipe
                    process.wait(timeout=0.5)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGINT, words)

    def test_progress_line(self):
        """A long launch shows its progress, on a terminal only."""
        main, side = pty.openpty()
        with subprocess.Popen([TYTO, "launch", "--functional", SPIN], stderr=side, env=PLAIN) as process:
            time.sleep(2.5)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        os.close(side)
        shown = ""
        with contextlib.suppress(OSError):  # reading fails after the last output, when the other side is closed
            while True:
                shown += os.read(main, 65536).decode()
        os.close(main)
        self.assertIn("spin: 0 of 1 thread blocks, ", shown)
        self.assertIn("\x1b[1;31merror:\x1b[0m", shown)

    def test_a_launch_of_one_wave_shows_the_time_left(self):
        """No block ends for long; a copy of the process counts what the launch will execute, and leaves nothing behind."""
        (self.path / "loop.ptx").write_text(LONG, encoding="utf-8")
        main, side = pty.openpty()
        command = [TYTO, "launch", "--machine", "ccws", "loop.ptx", "--block", "32", "--arg", "zero:4096"]
        with subprocess.Popen(command, cwd=self.path, stdout=side, stderr=side, env=PLAIN) as process:
            os.close(side)
            shown = ""
            while not re.search("0 of 1 thread blocks, .* s left", shown):
                shown += os.read(main, 65536).decode()
            copies = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(OSError):
                while os.read(main, 65536):
                    pass
            process.wait(timeout=60)
        os.close(main)
        self.assertRegex(shown, "loop: 0 of 1 thread blocks, .* about [0-9]+ s left")
        self.assertEqual(len(copies), 1)
        self.assertFalse(pathlib.Path(f"/proc/{copies[0]}").exists())


# All warps but WARP wait at a barrier when that one reads a word at an odd address.
ODD = '''.version 7.5
.target sm_75
.address_size 64
.visible .entry odd(.param .u64 words) {
    .reg .b32 %i; .reg .pred %waits; .reg .b64 %at;
    ld.param.u64 %at, [words];
    mov.u32 %i, %tid.x;
    shr.u32 %i, %i, 5;
    setp.ne.u32 %waits, %i, WARP;
    @%waits bra wait;
    ld.global.u32 %i, [%at+1];
wait:
    bar.sync 0;
    st.global.u32 [%at], %i;
    ret;
}
'''


class Timed(Case):
    """Timed runs on a machine."""

    def test_a_fault_ends_a_cycle_with_all_counts(self):
        for warp, code in itertools.product(range(4), ("lowered", "ptx")):  # each warp is in another sub-core
            (self.path / "odd.ptx").write_text(ODD.replace("WARP", str(warp)), encoding="utf-8")
            done = self.tyto("launch", "--machine", "h100", "--code", code, "odd.ptx", "--block", "128", "--arg", "zero:4096",
                             is_timed=True)
            self.check(done, 1, "misaligned")
            self.assertNotIn("disagree", done.stderr)

    def test_peak_memory_is_of_the_run_alone(self):
        for mode in ("--functional", "--quiet"):
            large = bytearray(b"x") * 400_000_000  # memory of the process that starts the run
            done = self.tyto("run", mode, "--json", "r.json", "vecadd", "--size", "300", is_timed=True)
            self.check(done, 0)
            result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
            self.assertLess(result["host"]["peak_memory_bytes"], len(large))

    def run_timed(self, *words):
        done = self.tyto("run", "--json", "r.json", *words, is_timed=True)
        self.check(done, 0)
        result = json.loads((self.path / "r.json").read_text(encoding="utf-8"))
        del result["host"]
        return done, result

    def test_a_profile_is_in_the_report_and_the_json(self):
        done = self.tyto("run", "--profile", "--source-path", ROOT, "--json", "r.json", "--profile-json", "p.json", "vecadd",
                         "--size", "300", is_timed=True)
        self.check(done, 0, "where the warps of vecadd were: ", "  share  doing what", "kernel.cu:")
        report = json.loads((self.path / "r.json").read_text())
        alone = json.loads((self.path / "p.json").read_text())
        self.assertEqual(alone["profile"], report["profile"])
        lines = report["profile"][0]["instructions"]
        self.assertEqual(sum(line.get("issues", 0) for line in lines), report["total"]["warp_instructions"])
        cycles = sum(value for line in lines for key, value in line.items() if key.startswith("cycles_"))
        self.assertEqual(cycles, report["total"]["warp_cycles"])
        self.assertTrue(any("[i]" in (line["text"] or "") for line in report["profile"][0]["sources"]))
        self.check(self.tyto("run", "--functional", "--profile", "vecadd"), 2, "--profile")

    def test_a_profile_reads_the_source_in_allowed_folders_only(self):
        secret = self.path / "keys" / "secret"
        (self.path / "work" / "kernels").mkdir(parents=True)
        secret.parent.mkdir()
        secret.write_text("a secret line\n", encoding="utf-8")
        (self.path / "work" / "kernels" / "k.cu").write_text("a line of the kernel\n", encoding="utf-8")
        name = secret.parent / "\x1b[31mred"
        name.write_text("red\n", encoding="utf-8")
        (self.path / "work" / "kernels" / "k.ptx").write_text(
            f'.version 7.0\n.target sm_70\n.address_size 64\n.file 1 "{secret}"\n.file 2 "k.cu"\n.file 3 "/proc/kmsg"\n.file 4 "{name}"\n'
            ".visible .entry k()\n{\n.reg .u32 r<9>;\n" + "".join(f".loc {i} 1 1\nmov.u32 r{i}, %tid.x;\n" for i in range(1, 5)) + "ret;\n}\n",
            encoding="utf-8")
        words = ("launch", "--machine", "gtx480", "--profile", "--json", "r.json", "kernels/k.ptx")

        def texts(*options):
            done = self.tyto(*words, *options, is_timed=True, cwd=self.path / "work")
            self.check(done, 0)
            self.assertNotIn("\x1b", done.stderr)
            report = json.loads((self.path / "work" / "r.json").read_text(encoding="utf-8"))
            return done, {pathlib.Path(line["source"]).name: line["text"] for line in report["profile"][0]["sources"]}

        done, lines = texts()
        self.assertEqual(lines, {"secret": None, "k.cu": "a line of the kernel", "kmsg": None, "?[31mred": None})
        self.check(done, 0, f"{secret} is not shown: it is not below the folder of the program or the working folder; "
                            "--source-path FOLDER allows it\n")
        done, lines = texts("--source-path", self.path / "keys", "--source-path=/proc")
        self.assertEqual(lines["secret"], "a secret line")
        self.assertNotIn("secret is not shown", done.stderr)
        self.check(self.tyto(*words, "--source-path", "none", is_timed=True, cwd=self.path / "work"), 1,
                   "--source-path none: No such file or directory")

    def test_a_message_steers_no_terminal(self):
        done = self.tyto("run", "\x1b[31mprogram")
        self.check(done, 127, "?[31mprogram")
        self.assertNotIn("\x1b", done.stderr)

    def test_a_profile_shows_of_a_line_what_has_room(self):
        name = "%a_register_with_a_name_that_is_longer_than_most_lines_of_the_table_have_room_for"
        (self.path / "long.ptx").write_text(f".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry long()\n{{\n.reg .u32 {name};\n"
                                            f"mov.u32 {name}, %tid.x;\nret;\n}}\n", encoding="utf-8")
        words = ("launch", "--machine", "gtx480", "long.ptx", "--profile")
        self.check(self.tyto(*words, is_timed=True), 0, f"  long.ptx:7  mov.u32 {name}, %tid.x;\n")
        for columns, most in ((120, 120), (500, 300)):
            lines = [line for line in self.on_terminal(columns, *words).splitlines() if "  long.ptx:7  mov.u32 " in line]
            self.assertEqual(len(lines), 1)
            self.assertLessEqual(len(lines[0]), most)
            self.assertEqual(name in lines[0], columns == 500)

    def test_the_most_of_a_kernel_is_its_own(self):
        _, result = self.run_timed("--machine", "gtx480", "bfs", "--size", "test")
        most = [kernel["dram_queue_max"] for kernel in result["kernels"]]
        for kernel in result["kernels"]:
            self.assertEqual(kernel["dram_queue_max"] > 0, kernel["dram_queue_ticks"] > 0)
        self.assertEqual(result["total"]["dram_queue_max"], max(most))
        self.assertLess(most[1], most[0])

    def test_result(self):
        done, result = self.run_timed("vecadd", "--size", "1000")
        self.assertEqual(done.stdout, "vecadd: 1000 sums verified\n")
        self.assertRegex(done.stderr, rf"(?m)^vecadd on {DEFAULT}, warps by .*, CTAs by round-robin$")
        self.assertEqual(list(result)[-4:], ["kernels", "total", "untimed", "errors"])
        self.assertEqual(result["machine"], DEFAULT)
        self.assertEqual(result["kernels"][0]["ctas_finished"], 4)
        self.assertGreater(result["total"]["cycles"], 100)
        total = result["total"]
        self.assertAlmostEqual(total["ipc"], total["thread_instructions"] / total["cycles"])

    def test_registers_are_told_as_they_were_given(self):
        done, result = self.run_timed("--registers", "40", "vecadd", "--size", "1000")
        self.assertEqual(re.findall(r"(\d+) registers", done.stderr), ["40", "40"])
        self.assertEqual([kernel["registers"] for kernel in result["kernels"]], [40])

    def test_same_result_twice(self):
        words = ("--machine", "owl", "--scheduler", "lrr", "bfs", "--size", "300")
        self.assertEqual(self.run_timed(*words)[1], self.run_timed(*words)[1])

    def test_timing_changes_no_result(self):
        for scheduler in ("lrr", "gto", "two-level"):
            done, result = self.run_timed("--scheduler", scheduler, "spmv", "--size", "200")
            self.assertEqual(done.stdout, "spmv: 200 rows verified\n")
            self.assertEqual(result["scheduler"], scheduler)

    def test_overrides(self):
        small = self.run_timed("--machine", "gtx480", "--set", "l1d.size=8KiB", "--set", "gpu.sms=1", "vecadd",
                               "--size", "3000")[1]
        plain = self.run_timed("--machine", "gtx480", "vecadd", "--size", "3000")[1]
        self.assertGreater(small["total"]["cycles"], plain["total"]["cycles"])

    def test_files(self):
        done, result = self.run_timed("--csv", "r.csv", "--ctas", "c.csv", "--timeline", "t.json",
                                      "--sample", "500", "vecadd", "--size", "3000")
        lines = (self.path / "r.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 3)  # heading, kernel, total
        self.assertIn("cycles", lines[0])
        ctas = (self.path / "c.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(ctas), 1 + 12)
        events = json.loads((self.path / "t.json").read_text(encoding="utf-8"))
        self.assertTrue(any(event.get("name") == "vecadd CTA 11" for event in events))
        self.assertEqual(len(result["samples"]["end_cycle"]),
                         -(-result["total"]["cycles"] // 500))
        self.assertIn("host:", done.stderr)

    def test_chosen_kernels(self):
        """The chosen kernels are timed, the others run untimed, and all instructions are counted."""
        whole = self.run_timed("lud", "--size", "64")[1]
        done, part = self.run_timed("--kernels", "lud_in*,lud_diagonal", "--skip", "2",
                                    "--csv", "r.csv", "--timeline", "t.json", "lud", "--size", "64")
        self.assertRegex(done.stderr, r"kernel 1: lud_diagonal .* not timed\n")
        self.assertRegex(done.stderr, r"\nnot timed: \d+ kernels, [\d,]+ warp instructions \(lud_")
        chosen = [kernel for kernel in part["kernels"] if kernel["kernel"] != "lud_perimeter"]
        timed = [kernel for kernel in part["kernels"] if kernel["timed"]]
        self.assertEqual(timed, chosen[2:])
        for count in ("warp_instructions", "thread_instructions"):
            self.assertEqual([kernel[count] for kernel in part["kernels"]],
                             [kernel[count] for kernel in whole["kernels"]])
            self.assertEqual(part["total"][count] + part["untimed"][count], whole["total"][count])
        self.assertEqual(part["total"]["kernels"], len(timed))
        self.assertEqual(part["untimed"]["kernels"], len(whole["kernels"]) - len(timed))
        self.assertEqual(part["total"]["cycles"], sum(kernel["cycles"] for kernel in timed))
        self.assertEqual(len((self.path / "r.csv").read_text(encoding="utf-8").splitlines()), len(timed) + 2)
        events = json.loads((self.path / "t.json").read_text(encoding="utf-8"))
        self.assertFalse([event for event in events if "lud_perimeter" in event.get("name", "")])

    def test_choosing_all_kernels_changes_nothing(self):
        words = ("bfs", "--size", "300")
        chosen, plain = self.run_timed("--kernels", "*", *words)[1], self.run_timed(*words)[1]
        self.assertEqual((chosen.pop("options"), plain.pop("options")), ("--kernels '*'", None))
        for run in (chosen, plain):
            del run["command"]
        self.assertEqual(chosen, plain)

    def test_kernels_that_never_ran(self):
        done, result = self.run_timed("--kernels", "bsf", "bfs", "--size", "300")
        self.assertEqual(done.stderr.count("warning"), 1)
        self.assertIn("warning: --kernels bsf: no kernel of this name was launched; did you mean 'bfs'?", done.stderr)
        self.assertRegex(done.stderr, r"\nhost: nothing was timed, \d+ MiB at most\n")
        self.assertEqual(result["total"]["kernels"], 0)
        self.assertGreater(result["untimed"]["warp_instructions"], 0)

    def test_mistakes(self):
        for words, part in ((("--machine", "owll"), "owl"),
                            (("--machine", "nowhere.yaml"), "nowhere.yaml"),
                            (("--scheduler", "gtoo"), "gto"),
                            (("--set", "l1d.sise=8KiB"), "l1d.size"),
                            (("--set", "l1d.size=8 owls"), "l1d.size"),
                            (("--timeline", "/no/t.json"), "/no/t.json"),
                            (("--functional", "--csv", "x.csv"), "--csv needs timing"),
                            (("--functional", "--skip", "1"), "leave --functional out"),
                            (("--kernels", "a,,b"), "a name is empty")):
            self.check(self.tyto("run", *words, "vecadd", is_timed=True), 2, part)


class Cache(Case):
    """Recorded L1D lookups and their replay."""

    def record(self, *words):
        done = self.tyto("run", "--quiet", "--record-l1d", "t.l1d", *words, is_timed=True)
        self.check(done, 0)

    def replay(self, *words):
        done = self.tyto("cache", "t.l1d", "--json", "c.json", *words)
        self.check(done, 0)
        return json.loads((self.path / "c.json").read_text(encoding="utf-8"))

    @many_runs
    def test_lru_agrees_with_the_run(self):
        workloads = (("spmv", "--size", "300"), ("bfs", "--size", "300"), ("histogram", "--size", "3000"),
                     ("kmeans", "--size", "200"), ("matmul", "--size", "48"))
        for number, machine in enumerate(("ccws", "gtx480", "owl")):
            for words in thinned(workloads, number):
                self.record("--machine", machine, "--json", "r.json", *words)
                total = json.loads((self.path / "r.json").read_text(encoding="utf-8"))["total"]
                got = self.replay()
                for name in ("accesses", "misses", "load_accesses", "load_misses"):
                    self.assertEqual(got[name], total["l1d_" + name], (machine, words, name))
                self.assertEqual(got["thread_instructions"], total["thread_instructions"])
                # the replay counts hits on lines in flight as hits; the run does not attribute them to a warp
                for name in ("intra_warp_hits", "inter_warp_hits", "intra_thread_hits"):
                    self.assertGreaterEqual(got[name], total["l1d_" + name])
                best, all_lines = self.replay("--policy", "belady"), self.replay("--unbounded")
                self.assertLessEqual(best["fills"], got["fills"])
                self.assertLessEqual(all_lines["fills"], best["fills"])

    def test_lru_agrees_where_the_sets_are_hashed(self):
        self.record("--machine", "gtx480", "--set", "l1d.set_hash=11..7 ^ 20..16", "spmv", "--size", "1000")
        got = self.replay()
        self.assertEqual(got["misses"], got["run_misses"])
        self.check(self.tyto("cache", "t.l1d", "--size", "32KiB"), 2, "64 sets need")

    def test_recording_changes_no_result(self):
        for words in ((), ("--record-l1d", "t.l1d")):
            self.check(self.tyto("run", *words, "--json", f"{len(words)}.json", "spmv", "--size", "200",
                                 is_timed=True), 0)
        runs = [json.loads((self.path / f"{n}.json").read_text(encoding="utf-8")) for n in (0, 2)]
        for run in runs:
            del run["host"]
        self.assertEqual(*runs)

    def test_what_is_printed(self):
        self.record("--machine", "ccws", "bfs", "--size", "300")
        done = self.tyto("cache", "t.l1d", "--size", "64KiB", "--ways", "16", "--csv", "-")
        self.check(done, 0)
        self.assertIn("t.l1d: 30 L1Ds of machine ccws, warps by lrr\n"
                      "recorded: tyto run --quiet --machine ccws bfs --size 300\n"
                      "replayed: lru, 65,536 bytes, 16 ways, lines of 128 bytes\n", done.stderr)
        for row in (r"thread_instructions +\d+,\d{3}  thread", r"accesses +\d,\d{3}  loads and", r"miss_rate +\d+\.\d%  misses per access", r"MPKI +\d+\.\d\d  "):
            self.assertRegex(done.stderr, rf"\n  {row}")
        heading, line = done.stdout.splitlines()
        self.assertEqual(len(heading.split(",")), len(line.split(",")))
        self.assertEqual(self.tyto("cache", "t.l1d").stdout, self.tyto("cache", "t.l1d").stdout)

    def test_mistakes(self):
        self.record("--machine", "gtx480", "vecadd", "--size", "300")
        whole = (self.path / "t.l1d").read_bytes()
        for words, part in ((("--policy", "beladi"), "did you mean 'belady'?"), (("--size", "x"), "--size x"),
                            (("--ways", "0"), "--ways 0"), (("--ways", "3"), "power of two of sets"),
                            (("--line", "64"), "recorded in lines of 128"),
                            (("--unbounded", "--ways", "4"), "cannot be combined with")):
            self.check(self.tyto("cache", "t.l1d", *words), 2, part)
        for name, content, part in (("cut", whole[:-9], "is cut short"), ("none", b"", "is empty"),
                                    ("text", b"hello", "not an L1D trace"),
                                    ("bad", whole[:300] + b"#" + whole[301:], "damaged")):
            (self.path / name).write_bytes(content)
            done = self.tyto("cache", name)
            self.check(done, 1, part)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.check(self.tyto("cache", "nowhere"), 1, "No such file")
        self.check(self.tyto("cache", "/dev/zero"), 1, "/dev/zero: error: not an L1D trace")
        piped = run_command([TYTO, "cache", "/dev/stdin"], input=whole, capture_output=True, check=False, timeout=60)
        self.assertEqual((piped.returncode, piped.stderr),
                         (1, b"tyto: /dev/stdin: error: cannot be read: an L1D trace must be a file, no pipe\n"))
        self.check(self.tyto("cache", self.path), 1, "Is a directory")
        self.check(self.tyto("cache", "t.l1d", environment={"TMPDIR": "/nowhere"}), 0)
        self.check(self.tyto("cache", "t.l1d", "--policy", "belady", environment={"TMPDIR": "/nowhere"}), 1,
                   "/nowhere/tyto-")
        done = self.tyto("run", "--quiet", "--record-l1d", "/dev/full", "vecadd", is_timed=True)
        self.assertEqual(done.stderr.count("No space left"), 1)
        self.check(self.tyto("run", "--functional", "--record-l1d", "x", "vecadd"), 2, "needs timing")


class Compare(Case):
    def test_table(self):
        words = ("compare", "--machine", "ccws", "--schedulers", "gto,ccws:k_throttle=16,base=50,lrr",
                 "--json", "c.json", "--csv", "c.csv", "spmv", "--size", "300")
        done = self.tyto(*words)
        self.check(done, 0)
        self.assertEqual(done.stderr, "")
        self.assertIn("spmv on ccws", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^(gto|ccws:\S+|lrr) is fastest\. The others:")
        runs = json.loads((self.path / "c.json").read_text(encoding="utf-8"))["runs"]
        self.assertEqual([run["scheduler"].split(":")[0] for run in runs], ["gto", "ccws", "lrr"])
        self.assertIn("k_throttle=16", runs[1]["scheduler"])
        self.assertEqual(len((self.path / "c.csv").read_text(encoding="utf-8").splitlines()), 7)
        # neither the number of processes nor a second run changes the result
        self.assertEqual(done.stdout, self.tyto(*words[:1], "--jobs", "1", *words[1:]).stdout)

    def test_ranges(self):
        done = self.tyto("compare", "--machine", "gtx480", "--schedulers", "gto,swl:limit=3..5,two-level:group=1..2,stall=any",
                         "--json", "c.json", "vecadd", "--size", "300")
        self.check(done, 0)
        runs = json.loads((self.path / "c.json").read_text(encoding="utf-8"))["runs"]
        self.assertEqual([run["scheduler"] for run in runs],
                         ["gto", "swl:limit=3", "swl:limit=4", "swl:limit=5",
                          "two-level:group=1,stall=any", "two-level:group=2,stall=any"])
        self.check(self.tyto("compare", "--schedulers", "swl:limit=0..3", "vecadd"), 2, "out of bounds")
        self.check(self.tyto("compare", "--schedulers", "swl:limit=5..3", "vecadd"), 2, "--schedulers swl:limit=5..3: the range is empty, as it ends before it begins")
        self.check(self.tyto("compare", "--cta-schedulers", "round-robin,limit:ctas=5..3", "vecadd"), 2, "--cta-schedulers limit:ctas=5..3: the range is empty")
        self.check(self.tyto("compare", "--schedulers", "swl:limit=1..9999", "vecadd"), 2, "more than 1024 runs")
        self.check(self.tyto("compare", "--schedulers", "ccws:base=1..60,k_throttle=1..60", "vecadd"), 2,
                   "more than 1024 runs")

    @many_runs
    def test_best_swl_is_every_limit(self):
        done = self.tyto("compare", "--machine", "gtx480", "--schedulers", "best-swl", "vecadd", "--size", "300")
        self.assertEqual(len(re.findall(r"(?m)^swl", done.stdout.split("scheduler cycles that")[0])), 32)

    def test_agrees_with_run(self):
        self.tyto("compare", "--schedulers", "lrr", "--json", "c.json", "bfs", "--size", "300")
        self.tyto("run", "--scheduler", "lrr", "--json", "r.json", "bfs", "--size", "300",
                  is_timed=True)
        load = lambda name: json.loads((self.path / name).read_text(encoding="utf-8"))
        compared, single = load("c.json")["runs"][0], load("r.json")
        del compared["host"], single["host"]
        for run in (compared, single):  # the same result from another command
            del run["command"], run["options"]
        self.assertEqual(compared, single)

    def test_mistakes(self):
        self.check(self.tyto("compare", "--schedulers", "lrr,gtoo", "vecadd"), 2, "gto")
        self.check(self.tyto("compare", "--schedulers", ",", "vecadd"), 2, "is empty")
        self.check(self.tyto("compare", "--timeline", "x", "vecadd"), 2, "use it with tyto run")
        self.check(self.tyto("compare", "--jobs", "0", "vecadd"), 2, "number of processes")
        self.check(self.tyto("compare", "--machine", "owll", "vecadd"), 2, "owl")
        self.check(self.tyto("compare", "--schedulers", "lrr", "vecad"), 2, "did you mean 'vecadd'?")
        self.check(self.tyto("compare", "--machine", "gtx480", "--schedulers", "lrr", "false"), 1,
                   "false under lrr on gtx480 failed with status 1")
        self.check(self.tyto("compare", "--schedulers", "lrr", "true"), 1, "did the program launch a kernel?\n")
        self.check(self.tyto("compare", "--json", "", "vecadd"), 2, "--json '': cannot be empty")
        self.check(self.tyto("compare"), 2, "needs WORKLOAD|PROGRAM")
        self.check(self.tyto("compare", "--json", "/no/x", "--schedulers", "lrr", "vecadd", "--size",
                             "100"), 2, "--json /no/x: cannot be written: No such file or directory")

    def test_what_is_wrong_with_every_run_is_told_once(self):
        done = self.tyto("compare", "--machine", "gtx480", "--jobs", "1", "vecadd", "--size", "0")
        self.check(done, 1, "vecadd --size 0 under lrr on gtx480 failed with status 2:\nvecadd: --size",
                   "tyto: failed as one above did: vecadd --size 0 under gto on gtx480, vecadd --size 0 under two-level on gtx480\n")
        self.assertEqual(done.stderr.count("needs a whole number"), 1, done.stderr)

    def test_options_of_one_run_are_refused(self):
        page = (ROOT / "docs/options.md").read_text(encoding="utf-8")
        rows = re.findall(r"(?m)^\| `(--[\w-]+)( [^`]+)?` .*\| [^|]*`tyto compare` \|$", page)
        names = {name for name, _ in rows} - {"--json", "--csv"}  # the command has its own forms of these two options
        self.assertTrue({"--scheduler", "--functional", "--ctas"} < names, names)
        for name, argument in rows:
            if name in names:
                words = (name, "-") if argument else (name,)
                words = (name, "gto") if name == "--scheduler" else words
                self.check(self.tyto("compare", *words, "vecadd", is_timed=True), 2,
                           f"{name} is not an option of tyto compare")

    def test_leaves_nothing_behind(self):
        environment = {"TMPDIR": str(self.path)}
        self.tyto("compare", "--schedulers", "lrr", "vecadd", "--size", "100",
                  environment=environment)
        self.tyto("compare", "--schedulers", "lrr", "false", environment=environment)
        self.assertEqual(os.listdir(self.path), [])


class Words(Case):
    def test_options_of_tyto_are_understood_after_a_workload(self):
        before = self.tyto("run", "--machine", "owl", "--scheduler", "lrr", "--json", "a.json", "vecadd", "--size", "300",
                           is_timed=True)
        after = self.tyto("run", "vecadd", "--machine", "owl", "--size", "300", "--scheduler=lrr", "--json", "b.json",
                          is_timed=True)
        self.check(before, 0)
        self.check(after, 0)
        load = lambda name: json.loads((self.path / name).read_text(encoding="utf-8"))
        one, other = load("a.json"), load("b.json")
        del one["host"], other["host"]
        self.assertEqual(one, other)
        self.assertEqual(one["machine"], "owl")
        self.check(self.tyto("run", "vecadd", "--help"), 0)
        self.check(self.tyto("run", "vecadd", "--sise", "3"), 2, "unknown option '--sise'")
        self.check(self.tyto("run", "vecadd", "--", "--machine", "owl"), 2, "unknown option '--machine'")
        self.check(self.tyto("compare", "vecadd", "--size", "300", "--schedulers", "lrr,gtoo"), 2, "gto")

    def test_what_says_how_to_run_gives_2_and_what_is_worked_on_gives_1(self):
        (self.path / "bad.yaml").write_text("nothing\n", encoding="utf-8")
        (self.path / "bad.ptx").write_text(".version 9.0\n", encoding="utf-8")
        for status, commands in ((2, ("run --json /no/x vecadd", "run --timeline /no/x.json vecadd", "run --machine ./no.yaml vecadd",
                                      "run --machine ./bad.yaml vecadd", "run --machine nope vecadd", "run --scheduler ./no.c vecadd",
                                      "run --scheduler ./no.so vecadd", "run --scheduler nope vecadd", "run --set a=b vecadd",
                                      "machines ./no.yaml", "machines ./bad.yaml", "machines nope", "cost ./no.so", "cost nope",
                                      "compare nope", "compare ./no", "compare --machine nope vecadd", "compare --csv /no/x vecadd",
                                      "sweep ./no.yaml", "sweep bad.yaml", "sweep nope", "sweep vecadd --machines ./no.yaml",
                                      "sweep vecadd --schedulers ./no.c", "sweep vecadd --csv /no/x", "reproduce ./no.yaml",
                                      "reproduce ./bad.yaml", "reproduce nope", "reproduce md-figure-9 --csv /no/x")),
                                 (1, ("launch no.ptx", "launch bad.ptx", "ptx no.ptx", "ptx bad.ptx", "cache no.l1d", "cache bad.ptx",
                                      "report no.json", "report bad.yaml", "run --json /dev/full vecadd --size test",
                                      "sweep vecadd --database /no/x", "reproduce md-figure-9 --database /no/x")),
                                 (127, ("run nope", "run ./no"))):
            for command in commands:
                with self.subTest(command):
                    self.check(self.tyto(*command.split(), is_timed=True), status, "error: ")

    def test_a_parameter_of_a_workload_may_be_0_where_a_size_has_it_so(self):
        for words in (("spmv", "--jagged", "0"), ("similarity", "--pairs", "0")):
            self.check(self.tyto("run", words[0], "--size", "test", *words[1:]), 0)
        self.check(self.tyto("run", "vecadd", "--elements", "0"), 2, "needs a whole number from 1")
        self.check(self.tyto("run", "similarity", "--documents", "1"), 2, "1 documents have 0 pairs")

    def test_a_seed_has_64_bits(self):
        self.check(self.tyto("run", "vecadd", "--size", "test", "--seed", str(2**64 - 1)), 0)
        for seed in (2**64, 10**20 - 1):
            self.check(self.tyto("run", "vecadd", "--size", "test", "--seed", str(seed)), 2,
                       f"--seed: needs a whole number from 0 to {2**64 - 1}, got '{seed}'")

    def test_a_program_ends_where_it_is_told_to_stop(self):
        results = []
        for threads in ("1", "2", "3"):
            done = self.tyto("run", "--machine", "gtx480", "matmul", "--size", "64", "--stop-after", "100000", "--threads",
                             threads, "--json", "s.json", is_timed=True)
            self.check(done, 0, "stopped after ")
            self.assertNotIn("verified", done.stdout)
            self.assertIn("incomplete: stopped", done.stdout + done.stderr)
            result = json.loads((self.path / "s.json").read_text(encoding="utf-8"))
            del result["host"], result["command"], result["options"]
            results.append(result)
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[2])
        self.assertEqual(results[0]["kernels"][-1]["status"], "stopped")
        self.assertTrue(100000 <= results[0]["total"]["thread_instructions"] < 100000 + 32 * 30)
        far = self.tyto("run", "matmul", "--size", "64", "--stop-after", "100000000", is_timed=True)
        self.check(far, 0)
        self.assertIn("verified", far.stdout)
        self.check(self.tyto("run", "matmul", "--functional", "--stop-after", "5"), 2, "--stop-after")

    def test_a_parameter_of_a_workload_stands_before_a_size_and_after_it(self):
        for words in (("--elements", "77", "--size", "test"), ("--size", "test", "--elements", "77")):
            self.assertIn("77 sums verified", self.tyto("run", "vecadd", *words).stdout)

    def test_no_parameter_of_a_workload_is_an_option_of_tyto_s(self):
        options = set(re.findall(r"(?m)^ +(--[\w-]+)", self.tyto("run", "--help").stdout))
        self.assertTrue({"--machine", "--threads"} < options, options)
        for path in (TYTO.parent / "workloads").glob("*.ptx"):
            if ".volatile" in path.name:
                continue
            told = run_command([path.with_suffix(""), "--help"], capture_output=True, text=True).stdout
            parameters = set(re.findall(r"(?m)^  (--[\w-]+)", told)) - {"--size", "--seed"}
            self.assertTrue(parameters, path.stem)
            self.assertEqual(parameters & options, set(), path.stem)

    def test_options_after_another_program_are_its_own_and_that_is_said(self):
        done = self.tyto("run", "echo", "--machine", "owl")
        self.assertEqual(done.stdout, "--machine owl\n")
        self.check(done, 0, "note: --machine comes after the program's name")
        self.assertNotIn("stands after", self.tyto("run", "echo", "--size", "3").stderr)
        self.assertNotIn("stands after", self.tyto("run", "echo", "--", "--machine").stderr)

    def test_every_workload_is_listed_by_its_suite(self):
        names = {path.stem for path in (TYTO.parent / "workloads").glob("*.ptx") if ".volatile" not in path.name}
        self.assertGreaterEqual(len(names), 60)
        listed = self.tyto("workloads").stdout
        self.assertEqual(set(re.findall(r"(?m)^  (\w+) ", listed)), names)
        table = (ROOT / "workloads/README.md").read_text(encoding="utf-8")
        suites = re.findall(r"(?m)^\| `\w+` \| ([^|]+) \|", table)
        self.assertGreaterEqual(len(set(suites)), 10)  # with Tyto's own workloads
        self.assertEqual(re.findall(r"(?m)^\w.*", listed), list(dict.fromkeys(suites)))
        page = self.tyto("help", "run").stdout.split("Workloads, by suite")[1].split("\n\n")[0]
        self.assertEqual(names - set(page.split()), set())
        self.assertEqual(re.findall(r"(?m)^  (\w+) ", self.tyto("workloads", "aes-128").stdout), ["aes"])
        self.check(self.tyto("workloads", "nothing-of-it"), 2, "no workload has 'nothing-of-it'")

    def test_metrics_are_listed_and_explained(self):
        names = [line.split()[0] for line in self.tyto("metrics").stdout.splitlines()]
        self.assertGreater(len(names), 140)
        page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
        for name in names:
            self.assertIn(f"| `{name}` |", page)
        done = self.tyto("explain", *names)
        self.check(done, 0)
        self.assertEqual(len(re.findall(r"(?m)^\w+, ", done.stdout)), len(names))
        shown = self.tyto("explain", "l1d_miss_rate", "l1d_misses").stdout
        self.assertIn("= l1d_misses / l1d_accesses\n", shown)
        self.assertIn("part of: l1d_miss_rate, l1d_MPKI\n", shown)
        shown = self.tyto("explain", "fetch_latency").stdout
        self.assertTrue(shown.startswith("fetch_latency is the former name of load_latency\nload_latency, a ratio, in "), shown)
        self.check(self.tyto("explain", "ipcc"), 2, "did you mean 'ipc'?")
        self.check(self.tyto("metrics", "nothing-of-it"), 2, "no metric has 'nothing-of-it'")

    def test_rules_of_advice_are_explained(self):
        page = (ROOT / "docs/advice.md").read_text(encoding="utf-8")
        rules = re.findall(r"(?m)^\| `([\w-]+)` \| .* \| \d+% \|$", page)
        self.assertGreater(len(rules), 10)
        shown = self.tyto("explain", *rules).stdout
        self.assertEqual(re.findall(r"(?m)^([\w-]+), a rule of advice$", shown), rules)
        self.check(self.tyto("explain", "memory-latancy"), 2, "did you mean 'memory-latency'?")

    def test_a_program_that_runs_nothing_is_told(self):
        self.check(self.tyto("run", "true"), 0, "tyto: note: the program ended without using CUDA: nothing ran on Tyto")
        self.assertEqual(self.tyto("run", "--quiet", "true").stderr, "")
        self.assertNotIn("note", self.tyto("run", "vecadd", "--size", "test").stderr)
        self.assertNotIn("note", self.tyto("run", "vecadd", "--help").stderr)
        self.assertNotIn("note", self.tyto("run", "false").stderr)

    def test_sms_add_up_to_the_run(self):
        self.tyto("run", "--machine", "gtx480", "--per-unit", "--json", "a.json", "spmv", "--size", "2000", is_timed=True)
        run = json.loads((self.path / "a.json").read_text())
        for name in ("load_cycles", "load_noc_cycles", "load_l2_cycles", "load_queue_cycles", "load_dram_cycles", "idle_launch", "memory_requests", "least_accesses"):
            self.assertEqual(sum(sm.get(name, 0) for sm in run["units"]["sms"]), run["total"][name], name)

    def test_a_run_says_what_limits_its_kernels(self):
        done = self.tyto("run", "--machine", "gtx480", "--json", "a.json", "spmv", "--size", "2000", is_timed=True)
        kernel = json.loads((self.path / "a.json").read_text())["kernels"][0]
        self.assertIn("uncoalesced", [told["rule"] for told in kernel["advice"]])
        for told in kernel["advice"]:
            self.assertIn(f"    {told['rule']}: {told['text']}\n", done.stderr)
        occupancy = kernel["occupancy"]
        self.assertEqual(min(value for value in occupancy["ctas"].values() if value), kernel["ctas_per_sm"])
        for name in occupancy["limited_by"]:
            self.assertEqual(occupancy["ctas"][name], kernel["ctas_per_sm"])
        self.assertAlmostEqual(kernel["of_peak"]["dram"], kernel["dram_bandwidth_use"], places=3)
        self.assertLess(kernel["of_peak"]["l2"], 1)


class Listings(Case):
    def test_machines(self):
        heading, *lines = self.tyto("machines").stdout.splitlines()
        self.assertEqual(heading.split(), ["machine", "SMs", "clock", "warps/SM", "L1D/SM", "L2", "DRAM", "title"])
        self.assertEqual({line.split()[0] for line in lines}, {path.stem for path in (ROOT / "machines").glob("*.yaml")})
        lines = {line.split()[0]: line for line in lines}
        self.assertRegex(lines["h100"], r"^h100 +132 +1980 MHz +64 +256 KiB +50 MiB +3352 GB/s  H100 SXM5")  # its data sheet: 3.35 TB/s
        self.assertRegex(lines["gtx480"], r"^gtx480 +15 +700 MHz +48 +16 KiB +768 KiB +177 GB/s  GTX480")  # its data sheet: 177.4 GB/s
        self.assertRegex(lines["md"], r" none +177 GB/s ")

    def test_one_machine(self):
        plain = self.tyto("machines", "owl").stdout
        changed = self.tyto("machines", "owl", "--set", "l1d.size=64KiB").stdout
        self.assertRegex(plain, r"size: 32 KiB .*OWL table 1")
        self.assertIn("\n# L2 of all partitions: 4 MiB. DRAM of all channels: 102 GB/s.\n", plain)
        for machine, peak in (("gtx480", "1.34 of f32, 0.084 of f64"), ("v100", "14.1 of f32, 7.07 of f64, 113 of f16 on tensor cores"),
                              ("a100", "19.5 of f32, 9.75 of f64, 312 of f16 on tensor cores"), ("rtx4090", "82.6 of f32, 1.29 of f64, 165 of f16 on tensor cores"),
                              ("rtx5090", "105 of f32, 1.64 of f64, 210 of f16 on tensor cores")):  # data sheets, at these clocks; gtx480: f32
            self.assertIn(f"\n# Peak of all SMs, in TFLOP/s: {peak}.\n", self.tyto("machines", machine).stdout)
        self.assertIn("\n# L2 of all partitions: none. DRAM of all channels: 51 GB/s.\n", self.tyto("machines", "owl", "--set", "l2.enabled=no", "--set", "clock.dram=400MHz").stdout)
        self.assertIn("size: 64 KiB", changed)
        # the output is a machine file
        (self.path / "mine.yaml").write_text(changed, encoding="utf-8")
        self.assertIn("size: 64 KiB", self.tyto("machines", "./mine.yaml").stdout)

    def test_mistakes(self):
        self.check(self.tyto("machines", "owll"), 2, "owl")
        self.check(self.tyto("machines", "owl", "--set", "l1d.sise=1KiB"), 2, "l1d.size")
        self.check(self.tyto("machines", "owl", "ccws"), 2, "unexpected argument")
        self.check(self.tyto("schedulers", "gto"), 2, "unexpected argument")

    def test_schedulers(self):
        listed = self.tyto("schedulers").stdout
        for name in ("lrr", "gto", "two-level", "ccws", "owl", "pro", "round-robin"):
            self.assertRegex(listed, rf"(?m)^  {name}$")

    def test_cost(self):
        self.assertIn("1920 bits = 240 bytes", self.tyto("cost", "pro", "--machine", "gtx480").stdout)
        self.assertEqual(self.tyto("cost", "pro").stdout, self.tyto("cost", "pro", "--machine", DEFAULT).stdout)
        self.assertIn("20480", self.tyto("cost", "ccws", "--machine", "ccws").stdout)
        self.assertIn("no storage", self.tyto("cost", "gto").stdout)
        self.check(self.tyto("cost", "prro"), 2, "pro")
        self.check(self.tyto("cost", "pro", "--machine", "owll"), 2, "owl")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
