#!/usr/bin/env python3
"""Results contain their origin; with "-" as a file, standard output contains nothing else.

usage: test_origin.py TYTO ROOT PLUGINS     PLUGINS: the folder of the policies that tests/cli builds
"""
import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import DEFAULT_MACHINE, many_runs, run_command  # noqa: E402 (found by the line above)

TYTO, ROOT, PLUGINS = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 170
ORIGIN = ["tyto_version", "library_hash", "command", "program", "arguments", "size", "seed", "program_hash", "machine",
          "machine_hash", "overrides", "options", "scheduler", "scheduler_hash", "cta_scheduler", "cta_scheduler_hash"]
HASHES = [name for name in ORIGIN if name.endswith("_hash")]
CHANGED = ("--machine", "owl", "--set", "l1d.size=16KiB", "--set", "l1d.ways=2", "--registers", "32")
VECADD = ("vecadd", "--size", "300", "--seed", "7")
EXPERIMENT = """
id: mine
paper: OURS
title: two runs
place: here
machine: owl
programs: [{label: A, run: vecadd}]
setups: [{name: rr, scheduler: lrr}, {name: gto, scheduler: gto, set: [l1d.size=32KiB]}]
columns: [{label: GTO, metric: ipc, setup: gto, over: rr, form: ratio}]
means: [{label: MEAN, kind: arithmetic}]
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def tyto(self, *words, status=0, **variables):
        done = run_command([TYTO, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.path,
                              env={**PLAIN, **variables}, timeout=SECONDS)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def rows(self, text):
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertTrue(rows)
        for row in rows:
            self.assertNotIn(None, row)  # no line has more fields than the heading
        return rows

    def check(self, origin, expected, before=""):
        """Checks that an origin, in JSON or in a line of CSV, has the expected values and all hashes."""
        for name, value in expected.items():
            self.assertEqual(origin[before + name], value, name)
        for name in HASHES:
            self.assertRegex(origin[before + name], r"^x[0-9a-f]{16}$", name)
        self.assertEqual(origin[before + "tyto_version"], self.tyto("--version").stdout.split()[1])


class Runs(Case):
    expected = {"program": "vecadd", "arguments": "--size 300 --seed 7", "size": "300", "seed": "7", "machine": "owl",
                "overrides": "l1d.size=16KiB l1d.ways=2", "options": "--registers 32 --sample 500 --quiet",
                "scheduler": "swl:limit=3", "cta_scheduler": "round-robin",
                "command": "tyto run --machine owl --set l1d.size=16KiB --set l1d.ways=2 --registers 32 --sample 500 "
                           "--quiet --scheduler swl:limit=3 vecadd --size 300 --seed 7"}

    def run_it(self, *words, **variables):
        self.tyto("run", *CHANGED, "--sample", "500", "--quiet", "--json", "r.json", "--scheduler", "swl:limit=3",
                  *words, *VECADD, **variables)
        return json.loads((self.path / "r.json").read_text(encoding="utf-8"))

    def test_json_and_csv_of_a_run_name_all_that_decides_it(self):
        run = self.run_it("--csv", "r.csv", "--profile-json", "p.json", "--ctas", "c.csv")
        self.assertEqual([name for name in run if name in ORIGIN], ORIGIN)
        self.check(run, self.expected)
        for row in self.rows((self.path / "r.csv").read_text()):
            self.check(row, self.expected)
            self.assertEqual({name: row[name] for name in HASHES}, {name: run[name] for name in HASHES})
        self.check(json.loads((self.path / "p.json").read_text()), self.expected)
        self.assertEqual(self.rows((self.path / "c.csv").read_text())[0]["command"], self.expected["command"])

    @many_runs
    def test_every_recording_names_all_that_decides_it(self):
        run = self.run_it("--ctas", "c.csv", "--policies", "p.csv", "--timeline", "t.json", "--record-l1d", "l.l1d", "--per-unit-csv", "u.csv",
                          "--snapshot", "s.json")
        self.tyto("cache", "l.l1d", "--json", "l.json", "--csv", "l.csv")
        policies = self.rows((self.path / "p.csv").read_text())
        said = {"c.csv": self.rows((self.path / "c.csv").read_text()), "u.csv": self.rows((self.path / "u.csv").read_text()), "p.csv": policies[-1:],
                "t.json": [event["args"] for event in json.loads((self.path / "t.json").read_text()) if event["name"] == "origin"],
                "s.json": [json.loads((self.path / "s.json").read_text())["run"]], "l.json": [json.loads((self.path / "l.json").read_text())["run"]],
                "l.csv": [{name: row["run_" + name] for name in ORIGIN} for row in self.rows((self.path / "l.csv").read_text())]}
        for name, origins in said.items():
            with self.subTest(name):
                self.assertTrue(origins)
                for origin in origins:
                    self.assertEqual({key: origin.get(key) or None for key in ORIGIN}, {key: run[key] for key in ORIGIN})
        self.assertEqual({row["name"] for row in policies if row["command"]}, {"origin"})
        self.assertEqual({tuple(row) for row in policies}, {tuple(policies[0])})

    def test_every_key_is_documented(self):
        page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
        for name in ORIGIN:
            self.assertIn(f"`{name}`", page)

    def test_the_command_named_makes_the_run_again(self):
        run = self.run_it()
        again = self.tyto(*shlex.split(run["command"])[1:2], "--json", "again.json", *shlex.split(run["command"])[2:])
        again = json.loads((self.path / "again.json").read_text())
        for one in (run, again):
            del one["host"]
        self.assertEqual(run, again)

    def test_a_program_is_named_in_the_command_as_it_was_started(self):
        (self.path / "my programs").mkdir()
        for name in ("vecadd", "vecadd.ptx"):
            shutil.copy(TYTO.parent / "workloads" / name, self.path / "my programs" / name)
        self.tyto("run", "--quiet", "--json", "r.json", "./my programs/vecadd", *VECADD[1:])
        run = json.loads((self.path / "r.json").read_text())
        self.assertEqual(run["command"], "tyto run --quiet './my programs/vecadd' --size 300 --seed 7")
        self.assertEqual(run["program"], "vecadd")
        self.tyto(*shlex.split(run["command"])[1:])

    def test_words_that_a_shell_would_take_apart_are_quoted(self):
        program = self.path / "my program.sh"
        program.write_text(f'#!/bin/sh\nexec "{TYTO.parent}/workloads/vecadd" --size 300\n')
        program.chmod(0o755)
        self.tyto("run", "--json", "r.json", "./my program.sh", "it's", "", "$x")
        run = json.loads((self.path / "r.json").read_text())
        self.assertEqual(shlex.split(run["command"])[-2:], ["--size", "300"])  # the program that launched kernels
        self.tyto("launch", "--functional", "--json", "r.json", ROOT / "tests/cli/saxpy.ptx", "--arg", "u32:1", "--arg",
                  "f32:1", "--arg", "zero:64", "--arg", "out:it's $x:64")
        run = json.loads((self.path / "r.json").read_text())
        self.assertEqual(shlex.split(run["command"])[-1], "out:it's $x:64")
        self.assertEqual(shlex.split(run["arguments"])[-2:], ["--arg", "out:it's $x:64"])
        self.assertEqual(run["program"], str(ROOT / "tests/cli/saxpy.ptx"))

    def test_a_workload_names_the_size_and_seed_that_nobody_gave(self):
        self.tyto("run", "--functional", "--json", "r.json", "vecadd")
        run = json.loads((self.path / "r.json").read_text())
        self.assertEqual((run["size"], run["seed"], run["machine"], run["scheduler_hash"]), ("small", "1", DEFAULT_MACHINE, None))

    def test_hashes_are_of_the_contents(self):
        run = self.run_it()
        self.assertEqual({name: self.run_it()[name] for name in HASHES}, {name: run[name] for name in HASHES})
        for words, changed in ((("--set", "l1d.ways=4"), ["machine_hash"]),
                               (("--scheduler", "swl:limit=4"), ["scheduler_hash"]),
                               (("--cta-scheduler", "limit"), ["cta_scheduler_hash"]),
                               (("--memory", "1GiB"), [])):
            other = self.run_it(*words)
            self.assertEqual([name for name in HASHES if other[name] != run[name]], changed, words)
        shutil.copytree(TYTO.parent / "workloads", self.path / "w", ignore=lambda folder, names: [
            name for name in names if name not in ("vecadd", "vecadd.ptx")])
        with open(self.path / "w" / "vecadd.ptx", "a", encoding="utf-8") as file:
            file.write("// as it was\n")
        other = self.run_it(TYTO_WORKLOAD_DIR=str(self.path / "w"))
        self.assertEqual([name for name in HASHES if other[name] != run[name]], ["program_hash"])

    def test_a_plug_in_is_known_by_its_bytes(self):
        before = None
        for name in ("cli_turns.so", "other bytes"):
            data = (PLUGINS / "cli_turns.so").read_bytes() + name.encode()
            (self.path / "mine.so").write_bytes(data)
            run = self.run_it("--scheduler", "./mine.so")
            self.assertEqual(run["scheduler"], "./mine.so")
            self.assertNotEqual(run["scheduler_hash"], before)
            before = run["scheduler_hash"]


class Several(Case):
    @many_runs
    def test_each_run_of_a_comparison_names_what_decides_it(self):
        self.tyto("compare", "--schedulers", "lrr,swl:limit=1..2", "--json", "c.json", "--csv", "c.csv", *CHANGED, *VECADD)
        runs = json.loads((self.path / "c.json").read_text())["runs"]
        rows = [row for row in self.rows((self.path / "c.csv").read_text()) if row["kernel"] == "total"]
        policies = ["lrr", "swl:limit=1", "swl:limit=2"]
        for one in (runs, rows):
            self.assertEqual([row["scheduler"] for row in one], policies)
            self.assertEqual(len({row["scheduler_hash"] for row in one}), 3)
            for row in one:
                self.check(row, {"program": "vecadd", "arguments": "--size 300 --seed 7", "machine": "owl",
                                 "overrides": "l1d.size=16KiB l1d.ways=2", "seed": "7"})
        for run, row in zip(runs, rows):
            self.assertEqual([run[name] or "" for name in ORIGIN], [row[name] for name in ORIGIN])

    @many_runs
    def test_rows_of_a_sweep_are_told_apart_and_name_the_policies_that_took_effect(self):
        words = ("sweep", "vecadd --elements 400", "./gone", "--set", "l1d.size=16KiB,32KiB", "--cta-schedulers",
                 "round-robin,limit", "--sizes", "test", "--seeds", "1,2", "--machines", "owl,ccws")
        (self.path / "gone").write_text("#!/bin/sh\nexit 1\n")
        (self.path / "gone").chmod(0o755)
        self.tyto(*words, "--csv", "s.csv", "--json", "s.json", status=1)
        rows = self.rows((self.path / "s.csv").read_text())
        whole = json.loads((self.path / "s.json").read_text())
        self.assertEqual(shlex.join(whole["command"]), shlex.join(("tyto", *words, "--csv", "s.csv", "--json", "s.json")))
        self.assertEqual(len({tuple(row[name] for name in ORIGIN) for row in rows}), len(rows))
        for row, run in zip(rows, whole["runs"], strict=True):
            self.assertEqual([row[name] for name in ORIGIN], [run[name] for name in ORIGIN])
            if row["state"] == "failed":
                self.assertEqual((row["program"], row["command"]), ("./gone", ""))
                continue
            self.check(row, {"program": "vecadd --elements 400", "scheduler": {"owl": "lrr", "ccws": "lrr"}[row["machine"]],
                             "size": "test", "overrides": f"l1d.size={row['l1d.size']}"})
            self.assertEqual(row["arguments"], f"--size test --seed {row['seed']} --elements 400")
            self.assertEqual(run["result"]["machine_hash"], row["machine_hash"])

    @many_runs
    def test_numbers_of_a_reproduction_name_the_runs_behind_them(self):
        (self.path / "mine.yaml").write_text(EXPERIMENT)
        self.tyto("reproduce", "./mine.yaml", "--size", "test", "--csv", "t.csv")
        row, mean = self.rows((self.path / "t.csv").read_text())
        self.check(row, {"program": "vecadd", "scheduler": "gto", "machine": "owl", "overrides": "l1d.size=32KiB",
                         "size": "test"}, "run_")
        self.assertIn("--scheduler gto", row["run_command"])
        self.assertIn("--scheduler lrr", row["over_command"])
        self.assertEqual((mean["run_command"], mean["over_command"]), ("", ""))
        self.assertRegex(mean["experiment_hash"], r"^x[0-9a-f]{16}$")
        (self.path / "mine.yaml").write_text(EXPERIMENT + "\n")
        self.tyto("reproduce", "./mine.yaml", "--size", "test", "--stored", "--csv", "t.csv")
        self.assertNotEqual(self.rows((self.path / "t.csv").read_text())[0]["experiment_hash"], row["experiment_hash"])

    def test_a_replay_names_the_recording(self):
        self.tyto("run", "--quiet", "--record-l1d", "v.l1d", "--machine", "owl", *VECADD)
        self.tyto("cache", "v.l1d", "--json", "r.json", "--csv", "r.csv")
        replay = json.loads((self.path / "r.json").read_text())
        row, = self.rows((self.path / "r.csv").read_text())
        for one in (replay, row):
            self.assertEqual((one["trace"], one["machine"], one["scheduler"]), ("v.l1d", "owl", "lrr"))
            self.assertRegex(one["trace_hash"], r"^x[0-9a-f]{16}$")


class StandardOutput(Case):
    """With "-" as a file, standard output contains the file and nothing else."""

    def test_every_file_of_a_run_can_be_standard_output(self):
        for option in ("--json", "--csv", "--ctas", "--timeline", "--policies", "--profile-json", "--record-l1d"):
            with self.subTest(option):
                self.tyto("run", "--sample", "500", option, "file", *VECADD)
                done = run_command([TYTO, "run", "--sample", "500", option, "-", *VECADD], capture_output=True,
                                      check=True, cwd=self.path, env=PLAIN, timeout=SECONDS)
                same = [re.sub(rb'"host": \{[^}]*\}', b"", data) for data in (done.stdout, (self.path / "file").read_bytes())]
                self.assertEqual(*same)
                self.assertIn(b"vecadd: 300 sums verified\n", done.stderr)

    def test_json_goes_into_a_pipe_as_it_is(self):
        line = f"'{TYTO}' run --json - vecadd --size test 2>/dev/null | '{sys.executable}' -m json.tool"
        done = run_command(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=True, env=PLAIN,
                              cwd=self.path, timeout=SECONDS)
        self.assertEqual(json.loads(done.stdout)["program"], "vecadd")

    def test_what_a_program_printed_before_its_first_call_goes_to_standard_error_too(self):
        program = self.path / "program.sh"
        program.write_text(f'#!/bin/sh\necho before\n"{TYTO.parent}/workloads/vecadd" --size 300\necho after\n')
        program.chmod(0o755)
        done = self.tyto("run", "--quiet", "--csv", "-", "./program.sh")
        self.assertEqual(len(self.rows(done.stdout)), 2)
        self.assertEqual(done.stderr, "before\nvecadd: 300 sums verified\nafter\n")

    def test_a_program_that_the_command_did_not_start_keeps_the_rule(self):
        done = run_command([TYTO.parent / "workloads" / "vecadd", "--size", "300"], capture_output=True, text=True,
                              check=True, timeout=SECONDS, cwd=self.path,
                              env={**PLAIN, "TYTO_OPTIONS": "--quiet --json -", "LD_LIBRARY_PATH": self.libraries()})
        self.assertEqual(shlex.split(json.loads(done.stdout)["command"]), ["tyto", "run", "--quiet", str(TYTO.parent / "workloads/vecadd"), "--size", "300"])
        self.assertEqual(done.stderr, "vecadd: 300 sums verified\n")

    def libraries(self):
        return self.tyto("run", "/usr/bin/env").stdout.split("LD_LIBRARY_PATH=")[1].split("\n")[0]

    def test_a_launch_keeps_the_rule(self):
        done = self.tyto("launch", "--functional", "--json", "-", ROOT / "tests/cli/saxpy.ptx", "--arg", "u32:1", "--arg",
                         "f32:1", "--arg", "zero:64", "--arg", "zero:64")
        self.assertEqual(json.loads(done.stdout)["kernels"][0]["kernel"], "saxpy")

    def test_tables_go_to_standard_error(self):
        (self.path / "mine.yaml").write_text(EXPERIMENT)
        self.tyto("run", "--quiet", "--record-l1d", "v.l1d", *VECADD)
        for words, said in ((("compare", "--schedulers", "lrr,gto", "--csv", "-", *VECADD), f"vecadd on {DEFAULT_MACHINE}"),
                            (("sweep", "vecadd", "--sizes", "test", "--csv", "-"), "1 run"),
                            (("reproduce", "./mine.yaml", "--size", "test", "--csv", "-"), "GTO"),
                            (("cache", "v.l1d", "--csv", "-"), "misses")):
            with self.subTest(words[0]):
                done = self.tyto(*words)
                self.rows(done.stdout)
                self.assertIn(said, done.stderr)
                self.assertNotIn(f"{said}\n", done.stdout)

    def test_a_standard_output_that_takes_nothing_is_told(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run_command([TYTO, "run", "--quiet", "--json", "-", *VECADD], stdout=full, text=True,
                                  stderr=subprocess.PIPE, check=False, env=PLAIN, timeout=SECONDS)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("standard output: error: cannot be written: No space left on device", done.stderr)


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad))
