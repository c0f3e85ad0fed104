#!/usr/bin/env python3
"""The files that the command writes: after any failure either the old file or the complete new one exists, and no other
file.

usage: test_files.py TYTO ROOT
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import hear_signals, many_runs  # noqa: E402 (found by the line above)

hear_signals()
TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SAXPY = ROOT / "tests" / "cli" / "saxpy.ptx"
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 120
EXPERIMENT = """
id: mine
paper: OURS
title: one run
place: here
machine: owl
programs: [{label: A, run: vecadd}]
setups: [{name: rr, scheduler: lrr}]
columns: [{label: CYCLES, metric: cycles, setup: rr, form: number}]
published: [{column: CYCLES, place: there, values: {A: 1}}]
"""
VECADD = ("vecadd", "--size", "test")
RUN = ("run", "--quiet", "--machine", "owl")
# Each file that a command can write: the words of the command, with FILE for the file's name.
OUTPUTS = (
    *((*RUN, option, "FILE", *VECADD)
      for option in ("--json", "--csv", "--ctas", "--timeline", "--policies", "--record-l1d", "--profile-json", "--per-unit-csv", "--snapshot")),
    (*RUN, "--functional", "--json", "FILE", *VECADD),
    ("compare", "--schedulers", "swl:limit=1..8", "--json", "FILE", *VECADD),
    ("compare", "--schedulers", "swl:limit=1..8", "--csv", "FILE", *VECADD),
    *(("sweep", "vecadd", "--machines", "owl", "--sizes", "test", option, "FILE") for option in ("--csv", "--json")),
    ("sweep", "vecadd", "--machines", "owl", "--schedulers", "lrr,gto", "--baseline", "lrr", "--sizes", "test", "--markdown", "FILE"),
    ("report", "run.json", "--output", "FILE"),
    ("cache", "run.l1d", "--json", "FILE"),
    ("cache", "run.l1d", "--csv", "FILE"),
    ("reproduce", "./mine.yaml", "--size", "test", "--stored", "--csv", "FILE"),
    ("reproduce", "./mine.yaml", "--size", "test", "--stored", "--markdown", "FILE"),
    *([("reproduce", "./mine.yaml", "--size", "test", "--stored", "--plot", "FILE"),
       ("compare", "--schedulers", "swl:limit=1..8", "--plot", "FILE", *VECADD),
       ("sweep", "vecadd", "--machines", "owl", "--x", "seed", "--seeds", "1,2", "--sizes", "test", "--plot", "FILE")] if shutil.which("gnuplot") else ()),
    ("launch", "--quiet", "--functional", SAXPY, "--arg", "u32:1", "--arg", "f32:1", "--arg", "zero:64",
     "--arg", "out:FILE:65536"),
)
TEMPORARY = {"compare": 14000, "--plot": 4096}  # size in bytes of the temporary files that a command needs; they must be smaller


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.home = pathlib.Path(cls.made.name)
        (cls.home / "mine.yaml").write_text(EXPERIMENT, encoding="utf-8")
        for words in ((*RUN, "--record-l1d", "run.l1d", "--json", "run.json", *VECADD),
                      ("sweep", "vecadd", "--machines", "owl", "--seeds", "1,2", "--sizes", "test"), ("sweep", "vecadd", "--machines", "owl", "--sizes", "test"), ("reproduce", "./mine.yaml", "--size", "test")):
            subprocess.run([TYTO, *words], check=True, capture_output=True, cwd=cls.home, env=PLAIN, timeout=SECONDS)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.home)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "file"

    def words(self, words, path=None):
        return [TYTO, *(str(word).replace("FILE", str(path or self.file)) for word in words)]

    def run_command(self, words, limit=None, **options):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.run(self.words(words), capture_output=True, text=True, check=False, cwd=self.home,
                              env=PLAIN, timeout=SECONDS, preexec_fn=set_limit if limit is not None else None,
                              **options)

    def expect_old(self, words):
        self.assertEqual(os.listdir(self.folder), ["file"], words)
        self.assertEqual(self.file.read_bytes(), b"old", words)


class Limits(Case):
    def test_a_limit_on_the_size_of_files_leaves_the_old_one(self):
        for words in OUTPUTS:
            with self.subTest(words):
                self.file.write_bytes(b"old")
                done = self.run_command(words, max([20, *(TEMPORARY[word] for word in words if word in TEMPORARY)]))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"(cannot write .*/file|/file: error: cannot be written|"  # of the command itself, or of a run that it started
                                        r"\.json: error: cannot be written): File too large")
                self.expect_old(words)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts a small disk")
    def test_a_full_disk_leaves_the_old_one(self):
        small = self.home / "small"
        small.mkdir(exist_ok=True)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", small], capture_output=True,
                          check=False).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        (small / "file").write_bytes(b"old")
        for words in OUTPUTS[:1] + OUTPUTS[3:5]:
            done = subprocess.run(self.words(words, small / "file"), capture_output=True, text=True, check=False,
                                  cwd=self.home, env=PLAIN, timeout=SECONDS)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("No space left on device", done.stderr)
            self.assertEqual(os.listdir(small), ["file"], words)
            self.assertEqual((small / "file").read_bytes(), b"old", words)

    def test_a_place_that_cannot_be_is_told_before_the_run(self):
        for words in OUTPUTS:
            done = subprocess.run(self.words(words, "none/at/all"), capture_output=True, text=True, check=False,
                                  cwd=self.home, env=PLAIN, timeout=SECONDS)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertIn("No such file or directory", done.stderr)

    def test_a_folder_that_takes_no_files_is_told_before_the_run(self):
        for words in OUTPUTS:
            done = subprocess.run(self.words(words, "/sys/kernel/file"), capture_output=True, text=True, check=False, cwd=self.home, env=PLAIN, timeout=SECONDS)
            with self.subTest(words):
                self.assertIn(done.returncode, (1, 2))
                self.assertRegex(done.stderr, r"\Atyto: [^\n]*(Permission denied|Operation not permitted|Read-only file system|No such file or directory)[^\n]*\n\Z")

    def test_what_a_command_reads_is_not_written_over(self):
        """For each command one or more rows: operands, its own options with their default values, the simulator's
        options."""
        machine = self.home / "mine.machine.yaml"
        machine.write_text("base: owl\nname: mine\n", encoding="utf-8")
        shutil.copy(SAXPY, self.home / "saxpy.ptx")
        database = ("--database", "runs.db")
        for words, place in ((("report", "run.json", "--output", "./run.json"), "./run.json"), (("cache", "run.l1d", "--json", "run.l1d"), "run.l1d"),
                             (("reproduce", "./mine.yaml", "--csv", "mine.yaml"), "mine.yaml"),
                             (("sweep", "vecadd", "--sizes", "test", "--csv", "tyto-runs.sqlite"), "tyto-runs.sqlite"),
                             (("compare", *database, "--json", f"{self.home}/runs.db", *VECADD), f"{self.home}/runs.db"),
                             (("run", "--machine", machine.name, "--json", f"./{machine.name}", *VECADD), f"./{machine.name}"),
                             (("run", "--csv", "run.json", "cat", "run.json"), "run.json"),
                             (("launch", "--json", "saxpy.ptx", "saxpy.ptx"), "saxpy.ptx")):
            before = {path.name: path.read_bytes() for path in self.home.iterdir() if path.is_file()}
            done = self.run_command(words)
            self.assertEqual(done.returncode, 2, f"{words}\n{done.stderr}")
            self.assertRegex(done.stderr, rf"\Atyto: error: {re.escape(place)}: tyto {words[0]} reads this file, and --\w+ would overwrite it\n\Z")
            self.assertEqual({path.name: path.read_bytes() for path in self.home.iterdir() if path.is_file()}, before)

    def test_a_file_may_have_the_name_of_a_machine_a_size_or_a_metric(self):
        for words in (("run", "--quiet", "--machine", "owl", "--json", "owl", *VECADD),
                      ("sweep", "vecadd", "--machines", "owl", "--sizes", "test", "--csv", "test", "--json", "ipc")):
            for _ in range(2):
                self.assertEqual(self.run_command(words).returncode, 0, words)

    def test_a_file_is_one_however_its_path_is_spelt(self):
        (self.home / "link").symlink_to("there")
        for other in ("./new", f"{self.home}/new", "../" + self.home.name + "/new"):
            done = self.run_command((*RUN, "--json", "new", "--csv", other, *VECADD))
            self.assertEqual(done.returncode, 2, other)
            self.assertIn("both --json and --csv write this file", done.stderr)
        (self.home / "other").symlink_to("link")
        for links in (("link", "there"), ("there", "other"), ("other", "link")):  # links to a file that does not exist yet
            done = self.run_command((*RUN, "--json", links[0], "--csv", links[1], *VECADD))
            self.assertEqual(done.returncode, 2, links)
            self.assertIn("both --json and --csv write this file", done.stderr)
        self.assertEqual(self.run_command((*RUN, "--json", "other", *VECADD)).returncode, 0)
        self.assertTrue((self.home / "other").is_symlink() and (self.home / "link").is_symlink())
        self.assertGreater((self.home / "there").stat().st_size, 30)
        (self.home / "there").write_text("")
        self.assertIn(": both --", self.run_command(("sweep", "vecadd", "--csv", "link", "--json", "there")).stderr)
        self.assertFalse((self.home / "new").exists())

    def test_a_program_that_goes_elsewhere_leaves_its_results_where_they_were_named(self):
        (self.home / "elsewhere").mkdir()
        vecadd = TYTO.parent / "workloads" / "vecadd"
        self.run_command((*RUN, "--json", "mine.json", "sh", "-c", f"cd elsewhere; exec {vecadd} --size test"))
        self.assertEqual(os.listdir(self.home / "elsewhere"), [])
        self.assertGreater((self.home / "mine.json").stat().st_size, 30)

    def test_every_option_that_names_a_file_to_write_is_tried(self):
        tried = {(words[0], word) for words in OUTPUTS for word in map(str, words) if word.startswith("--")}
        of_run = set()  # compare and sweep also list these, but refuse options for a single run
        for command in ("run", "compare", "sweep", "reproduce", "cache", "report"):
            helped = subprocess.run([TYTO, "help", command], capture_output=True, text=True, check=True, env=PLAIN, timeout=SECONDS).stdout
            options = set(re.findall(r"(?m)^  (--[a-z0-9-]+) FILE", helped)) - {"--database"}
            self.assertTrue(options, command)
            of_run = of_run or options - {"--json", "--csv"}
            own = options if command == "run" else options - of_run
            self.assertLessEqual({(command, option) for option in own}, tried)


class Whole(Case):
    @many_runs
    def test_without_a_limit_the_new_one_takes_its_place(self):
        for words in OUTPUTS:
            with self.subTest(words):
                self.file.write_bytes(b"old")
                self.file.chmod(0o640)
                done = self.run_command(words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.listdir(self.folder), ["file"])
                self.assertGreater(self.file.stat().st_size, 30)
                self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)

    def test_a_kill_leaves_the_old_one(self):
        words = (*RUN, "--timeline", "FILE", "--policies", "FILE2", "--sample", "100", "spmv", "--size", "262144")
        self.file.write_bytes(b"old")
        with subprocess.Popen(self.words(words), cwd=self.home, env=PLAIN, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(1)
            process.send_signal(signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.expect_old(words)

    @many_runs
    def test_a_dash_is_standard_output(self):
        for words in OUTPUTS:
            if "--plot" in words or "out:FILE:65536" in words:
                continue
            done = subprocess.run(self.words(words, "-"), capture_output=True, check=False, cwd=self.home, env=PLAIN,
                                  timeout=SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(done.stdout), 30, words)
            self.assertFalse((self.home / "-").exists(), words)

    def test_a_machine_is_not_read_from_standard_input(self):
        for words in (("run", "--machine", "-", *VECADD), ("launch", "--machine", "-", SAXPY)):
            done = self.run_command(words, input="base: owl\n")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--machine -: must be one of tyto machines, or a file", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
