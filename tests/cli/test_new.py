#!/usr/bin/env python3
"""Templates of schedulers, schedulers given as C files, counters of each unit, and completion.

usage: test_new.py TYTO ROOT COMPLETION     COMPLETION: the folder of the scripts that an installation brings
"""
import csv
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import many_runs, run_command, thinned  # noqa: E402 (found by the line above)

TYTO, ROOT, COMPLETION = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_") and key != "CC"}
SECONDS = 170
VECADD = ("vecadd", "--size", "300")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.cache = self.path / "cache"
        self.environment = {**PLAIN, "XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.path)}

    def tyto(self, *words, status=0, **variables):
        done = run_command([TYTO, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.path,
                              env={**self.environment, **variables}, timeout=SECONDS)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def run_json(self, *words, **variables):
        self.tyto("run", "--quiet", "--json", "r.json", *words, *VECADD, **variables)
        return json.loads((self.path / "r.json").read_text(encoding="utf-8"))


class New(Case):
    def test_a_starting_point_runs_at_once_by_the_commands_that_are_shown(self):
        for kind, option in (("scheduler", "--scheduler"), ("cta-scheduler", "--cta-scheduler")):
            shown = self.tyto("new", kind, "my-" + kind).stdout
            commands = [line.split()[1:] for line in shown.splitlines() if line.startswith("  tyto ")]
            self.assertEqual([words[0] for words in commands], ["run", "compare"])
            for words in commands:
                done = self.tyto(*words, "--size", "300")
                self.assertNotIn("warning", done.stderr)  # file of the compiler
            run = self.run_json(option, f"./my-{kind}.c")
            self.assertEqual(run[kind.replace("-", "_")], f"./my-{kind}.c")

    def test_its_parameter_does_something(self):
        self.tyto("new", "scheduler", "mine")
        self.tyto("new", "cta-scheduler", "few")
        shown = self.tyto("compare", "--schedulers", "./mine.c:turn=1,./mine.c:turn=1000", "spmv", "--size", "1500").stdout
        self.assertIn(" is fastest. The others:\n", shown)
        most = [self.run_json("--cta-scheduler", f"./few.c:most={most}", "--machine", "ccws", "--set",
                              "gpu.sms=1")["total"]["ctas_per_sm_max"] for most in (1, 2)]
        self.assertEqual(most, [1, 2])

    def test_nothing_is_written_over_and_names_are_names(self):
        (self.path / "mine.c").write_text("mine")
        self.assertIn("exists and was not changed", self.tyto("new", "scheduler", "mine", status=1).stderr)
        self.assertEqual((self.path / "mine.c").read_text(), "mine")
        self.assertIn("cannot be the name", self.tyto("new", "scheduler", "../x", status=2).stderr)
        self.assertIn("did you mean 'scheduler'?", self.tyto("new", "shceduler", "x", status=2).stderr)


class Sources(Case):
    def objects(self):
        return sorted(self.cache.rglob("*.so"))

    def setUp(self):
        super().setUp()
        self.tyto("new", "scheduler", "mine")
        time.sleep(0.02)  # as in write

    def test_a_file_is_compiled_once_until_it_changes(self):
        first = self.run_json("--scheduler", "./mine.c")
        self.assertEqual(len(self.objects()), 1)
        before = self.objects()[0].stat().st_mtime_ns
        self.assertEqual(self.run_json("--scheduler", "./mine.c")["scheduler_hash"], first["scheduler_hash"])
        self.assertEqual([path.stat().st_mtime_ns for path in self.objects()], [before])
        text = (self.path / "mine.c").read_text()
        (self.path / "mine.c").write_text(text.replace("tyto_oldest(view, ready)", "tyto_lowest(ready)"))
        other = self.run_json("--scheduler", "./mine.c")
        self.assertEqual(len(self.objects()), 2)
        self.assertNotEqual(other["scheduler_hash"], first["scheduler_hash"])

    def write(self, path, text):
        """Writes a file and lets time pass: an object is not kept if its source may have changed since the compiler
        started."""
        path.write_text(text)
        time.sleep(0.02)  # file times have a resolution of some milliseconds

    def compiler(self, text):
        """A compiler that runs additional commands."""
        path = self.path / "compiler"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def include(self, line):
        """Makes mine.c. Another file, which `line` includes, defines the default of its parameter, FIRST."""
        self.tyto("new", "scheduler", "fresh")
        text = (self.path / "fresh.c").read_text().replace("enum { TURN };", f"{line}\nenum {{ TURN }};")
        self.write(self.path / "mine.c", text.replace('"turn", TYTO_INTEGER, 8', '"turn", TYTO_INTEGER, FIRST'))
        (self.path / "fresh.c").unlink()

    def hashes(self, path, **variables):
        """Hashes of what is loaded for two versions of the file at the path, and for the first version again."""
        found = []
        for first in (1, 500, 1):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.write(path, f"enum {{ FIRST = {first} }};\n")
            found.append(self.run_json("--scheduler", "./mine.c", **variables)["scheduler_hash"])
        return found

    @many_runs
    def test_a_change_of_a_file_that_it_includes_counts_however_it_is_included(self):
        log = self.path / "log"
        variables = {"CPATH": str(self.path / "elsewhere"), "CC": self.compiler('printf . >> log; exec cc "$@"\n')}
        for line, name in {'#include "inner.h"': "inner.h", f'#include "{self.path}/inner.h"': "inner.h",
                           '#define INNER "inner.h"\n#include INNER': "inner.h", '#inc\\\nlude "inner.h"': "inner.h",
                           '/* */ # /* */ include /* */ "inner.h"': "inner.h", '#import "inner.h"': "inner.h",
                           '%:include "inner.h"': "inner.h", '#include "a b/c#d$e.h"': "a b/c#d$e.h",
                           "#include <inner.h>": "elsewhere/inner.h"}.items():
            with self.subTest(line):
                self.include(line)
                one, other, again = self.hashes(self.path / name, **variables)
                self.assertNotEqual(one, other)
                self.assertEqual(one, again)
                self.assertEqual(log.read_text(), "...")  # once for each version, not again for the same version
                self.run_json("--scheduler", "./mine.c", **variables)
                self.assertEqual(log.read_text(), "...")
                log.unlink()
            (self.path / name).unlink()

    def test_a_change_at_the_end_of_a_long_chain_of_files_counts(self):
        for i in range(20):
            (self.path / f"{i}.h").write_text(f'#include "{i + 1}.h"\n')
        self.include('#include "0.h"')
        self.assertEqual(len(set(self.hashes(self.path / "20.h"))), 2)

    def test_a_file_that_changes_while_it_is_compiled_is_compiled_again(self):
        self.include('#include "inner.h"')
        self.write(self.path / "inner.h", "enum { FIRST = 1 };\n")
        slow = self.compiler("""cc "$@"; status=$?; sed 's/=/= 1 +/' inner.h > new.h; mv new.h inner.h; exit $status\n""")
        runs = [self.run_json("--scheduler", "./mine.c", CC=slow)["scheduler_hash"] for _ in range(2)]
        self.assertEqual(len(set(runs)), 2)

    def test_what_is_kept_needs_no_compiler(self):
        once = self.compiler('mv "$0" "$0.gone"; exec cc "$@"\n')
        runs = [self.run_json("--scheduler", "./mine.c", CC=once)["scheduler_hash"] for _ in range(2)]
        self.assertEqual(len(set(runs)), 1)

    def test_a_compiler_that_does_not_tell_what_it_read_keeps_nothing(self):
        silent = self.compiler('cc "$@" && for word; do case $word in *.d) : > "$word";; esac; done\n')
        self.run_json("--scheduler", "./mine.c", CC=silent)
        self.assertEqual(list((self.cache / "tyto" / "policies").iterdir()), [])

    def test_what_is_kept_and_damaged_is_made_again(self):
        first = self.run_json("--scheduler", "./mine.c")["scheduler_hash"]
        for ending in (".so", ".list"):
            path, = self.cache.rglob("*" + ending)
            whole = path.read_bytes()
            for damaged in thinned((whole[:len(whole) // 2], b"", whole[:-2], whole[:20] + bytes(len(whole) - 20))):
                path.write_bytes(damaged)
                self.assertEqual(self.run_json("--scheduler", "./mine.c")["scheduler_hash"], first)
                self.assertEqual(path.read_bytes(), whole)
            path.unlink()
            os.mkfifo(path)  # no process writes to it
            self.assertEqual(self.run_json("--scheduler", "./mine.c")["scheduler_hash"], first)
            self.assertEqual(path.read_bytes(), whole)

    def test_what_a_file_has_become_is_not_read_without_end(self):
        self.include('#include "inner.h"')
        inner = self.path / "inner.h"
        for become in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), pathlib.Path.mkdir, lambda path: None):
            self.write(inner, "enum { FIRST = 1 };\n")
            self.run_json("--scheduler", "./mine.c", CC=self.compiler('exec cc "$@"\n'))
            inner.unlink()
            become(inner)
            done = self.tyto("run", "--scheduler", "./mine.c", *VECADD, status=2, CC=self.compiler("exit 1\n"))
            self.assertIn("did not compile it", done.stderr)
            if os.path.lexists(inner):
                shutil.move(inner, tempfile.mkdtemp(dir=self.path))

    def test_processes_that_compile_at_once_do_not_meet(self):
        self.include('#include "inner.h"')
        self.write(self.path / "inner.h", "enum { FIRST = 1 };\n")
        running = [subprocess.Popen([TYTO, "run", "--quiet", "--json", f"{i}.json", "--scheduler", "./mine.c", *VECADD],
                                    cwd=self.path, env=self.environment) for i in range(3)]
        self.assertEqual([process.wait(SECONDS) for process in running], [0] * 3)
        runs = [json.loads((self.path / f"{i}.json").read_text())["scheduler_hash"] for i in range(3)]
        self.assertEqual(len(set(runs)), 1)
        self.assertEqual(len(list((self.cache / "tyto" / "policies").iterdir())), 2)

    def test_a_kept_run_is_made_again_when_the_file_has_changed(self):
        words = ("sweep", "vecadd", "--sizes", "test", "--schedulers", "./mine.c", "--csv", "t.csv")
        rows = []
        for old, new in (("", ""), ("tyto_oldest(view, ready)", "tyto_lowest(ready)")):
            text = (self.path / "mine.c").read_text()
            (self.path / "mine.c").write_text(text.replace(old, new) if old else text)
            self.tyto(*words)
            rows += csv.DictReader((self.path / "t.csv").read_text().splitlines())
        self.assertEqual([row["scheduler"] for row in rows], ["./mine.c", "./mine.c"])
        self.assertNotEqual(rows[0]["version"], rows[1]["version"])

    def test_a_kept_run_is_made_again_when_a_file_that_is_included_has_changed(self):
        self.include(f'#include "{self.path}/inner.h"')
        versions = []
        for first in (1, 500, 1):
            self.write(self.path / "inner.h", f"enum {{ FIRST = {first} }};\n")
            self.tyto("sweep", "vecadd", "--sizes", "test", "--schedulers", "./mine.c", "--csv", "t.csv")
            versions += [row["version"] for row in csv.DictReader((self.path / "t.csv").read_text().splitlines())]
        self.assertNotEqual(versions[0], versions[1])
        self.assertEqual(versions[0], versions[2])

    def test_errors_of_the_compiler_are_shown_as_they_are(self):
        (self.path / "mine.c").write_text("int pick(void) { return wrong; }\n")
        done = self.tyto("run", "--scheduler", "./mine.c", *VECADD, status=2)
        self.assertIn("mine.c:1:25: error: ", done.stderr)
        self.assertIn("tyto: ./mine.c: error: cc did not compile it\n", done.stderr)
        self.assertEqual(self.objects(), [])
        (self.path / "mine.c").write_text("int nothing;\n")
        self.assertIn("has no symbol `tyto_policy`", self.tyto("run", "--scheduler", "./mine.c", *VECADD, status=2).stderr)
        self.assertIn("cannot be read: No such file", self.tyto("run", "--scheduler", "./gone.c", *VECADD, status=2).stderr)

    def test_a_compiler_that_is_not_there_is_told(self):
        done = self.tyto("run", "--scheduler", "./mine.c", *VECADD, status=2, CC="no-such-compiler")
        self.assertIn("no-such-compiler cannot be run to compile it (No such file or directory)", done.stderr)

    def test_the_compiler_may_have_options_with_it_as_in_make(self):
        text = (self.path / "mine.c").read_text()
        self.write(self.path / "mine.c", text.replace('"turn", TYTO_INTEGER, 8', '"turn", TYTO_INTEGER, FIRST'))
        one, other = (self.run_json("--scheduler", "./mine.c", CC=f" cc\t-DFIRST={first}  -g0 ") for first in (1, 500))
        self.assertNotEqual(one["scheduler_hash"], other["scheduler_hash"])
        done = self.tyto("run", "--scheduler", "./mine.c", *VECADD, status=2, CC="cc; touch seen; $(touch seen) '-DFIRST=1")
        self.assertFalse((self.path / "seen").exists())
        self.assertIn("error: cc; cannot be run to compile it (No such file or directory)", done.stderr)
        (self.path / "mine.c").write_text(text)
        for blank in ("", " "):
            self.run_json("--scheduler", "./mine.c", CC=blank)

    def test_no_folder_that_others_can_write_to_is_trusted(self):
        for mode in (0o777, 0o770):
            shutil.rmtree(self.cache, ignore_errors=True)
            (self.cache / "tyto" / "policies").mkdir(parents=True)
            (self.cache / "tyto").chmod(mode)
            self.run_json("--scheduler", "./mine.c")
            self.assertEqual(self.objects(), [])
        shutil.rmtree(self.cache)
        self.cache.mkdir()
        (self.path / "elsewhere").mkdir()
        (self.cache / "tyto").symlink_to(self.path / "elsewhere")
        self.run_json("--scheduler", "./mine.c")
        self.assertEqual(list((self.path / "elsewhere").iterdir()), [])
        self.assertEqual([name for name in os.listdir(self.path) if name.startswith("tyto-policy")], [])  # all removed

    def test_the_folder_is_the_users_own(self):
        self.run_json("--scheduler", "./mine.c")
        for folder in (self.cache / "tyto", self.cache / "tyto" / "policies"):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        kept = sorted(path.suffix for path in (self.cache / "tyto" / "policies").iterdir())
        self.assertEqual(kept, [".list", ".so"])  # and nothing more

    def test_a_crash_in_it_is_named_with_its_function(self):
        text = (self.path / "mine.c").read_text()
        (self.path / "mine.c").write_text(text.replace("const State *mine = state;", "const State *mine = state; __builtin_trap();"))
        done = run_command([TYTO, "run", "--scheduler", "./mine.c", *VECADD], capture_output=True, text=True, check=False,
                              cwd=self.path, env=self.environment, timeout=SECONDS)
        self.assertLess(done.returncode, 0)
        self.assertRegex(done.stderr, r"warp scheduler \./mine\.c: cycle \d+, SM \d+: pick was under way when signal")


class PerUnit(Case):
    words = ("--machine", "ccws", "--per-unit", "spmv", "--size", "1500")

    def test_units_add_up_to_the_run(self):
        self.tyto("run", "--quiet", "--json", "r.json", "--per-unit-csv", "u.csv", *self.words)
        run = json.loads((self.path / "r.json").read_text())
        units, total = run["units"], run["total"]
        self.assertEqual({kind: len(rows) for kind, rows in units.items()},
                         {"sms": 30, "slices": 8, "channels": 8, "banks": 64})
        for kinds, counters in ((("sms",), ("warp_instructions", "issued", "l1d_misses", "ctas_launched", "load_cycles")),
                                (("slices", "channels"), ("l2_accesses", "l2_misses")),
                                (("banks", "channels"), ("dram_reads", "dram_row_hits", "dram_activates"))):
            for kind in kinds:
                for counter in counters:
                    self.assertEqual(sum(unit.get(counter, 0) for unit in units[kind]), total[counter], (kind, counter))
        for kind, cache in (("sms", "l1d"), ("slices", "l2")):
            spreads, lists = run["cache_sets"][cache], [unit["sets"] for unit in units[kind]]
            for count in ("accesses", "misses", "evictions"):
                alike = [sum(sets) for sets in zip(*(each[count] for each in lists))] if cache == "l1d" else [value for each in lists for value in each[count]]
                self.assertEqual(sum(alike), total[f"{cache}_{count}"], (cache, count))
                self.assertEqual((len(alike), min(alike), max(alike)), (spreads["sets"], spreads[count]["least"], spreads[count]["most"]))
        rows = list(csv.DictReader((self.path / "u.csv").read_text().splitlines()))
        self.assertEqual(len(rows), sum(map(len, units.values())))
        self.assertEqual({row["command"] for row in rows}, {run["command"]})
        bank = next(row for row in rows if (row["unit"], row["channel"], row["number"]) == ("bank", "3", "5"))
        self.assertEqual(int(bank["dram_reads"]), next(
            unit for unit in units["banks"] if (unit["channel"], unit["bank"]) == (3, 5))["dram_reads"])

    def test_the_report_says_how_sms_differ(self):
        self.tyto("run", "--quiet", "--json", "r.json", *self.words)
        run = json.loads((self.path / "r.json").read_text())
        shown = self.tyto("run", *self.words).stderr
        numbers = [unit["warp_instructions"] if "warp_instructions" in unit else 0 for unit in run["units"]["sms"]]
        spread = run["total"]["spread"]["warp_instructions"]
        self.assertEqual((spread["least"], spread["most"]), (min(numbers), max(numbers)))
        self.assertAlmostEqual(spread["mean"], sum(numbers) / 30)
        self.assertAlmostEqual(spread["imbalance"], max(numbers) / (sum(numbers) / 30) - 1)
        self.assertEqual(run["kernels"][0]["spread"], run["total"]["spread"])
        self.assertRegex(shown, r"  over the 30 SMs +least +mean +most +imbalance\n")
        self.assertRegex(shown, rf"    warp instructions +{min(numbers):,} .* {max(numbers):,} ")
        self.assertRegex(shown, r"(?m)^  SM +CTAs +instructions")
        self.assertRegex(shown, r"(?m)^    7\.\d+ +\d")  # a bank of the last channel
        sets = run["cache_sets"]["l1d"]
        self.assertRegex(shown, rf"(?m)^  over the {sets['sets']} L1D sets +least +mean +most +imbalance\n    lookups +{sets['accesses']['least']:,} ")

    def test_launches_add_up(self):
        run = self.run_json("--per-unit")
        self.tyto("run", "--quiet", "--machine", "gtx480", "--per-unit", "--json", "r.json", "bfs", "--size", "300")
        run = json.loads((self.path / "r.json").read_text())
        self.assertGreater(len(run["kernels"]), 1)
        self.assertEqual(sum(unit.get("dram_reads", 0) for unit in run["units"]["banks"]), run["total"]["dram_reads"])
        self.assertEqual(sum(unit.get("l2_accesses", 0) for unit in run["units"]["slices"]), run["total"]["l2_accesses"])
        self.assertFalse({"units", "cache_sets"} & set(self.run_json()))
        self.assertIn("--per-unit needs timing", self.tyto("run", "--functional", "--per-unit", *VECADD, status=2).stderr)


class Completion(Case):
    def complete(self, *line):
        """The completions that bash offers for the last of these words."""
        count = len(line)
        words = " ".join(f"'{word}'" for word in ("tyto", *line))
        script = (f"source '{COMPLETION}/tyto'; complete -p tyto >/dev/null || exit 1; COMP_WORDS=({words}); "
                  f"COMP_CWORD={count}; COMP_WORDS[0]='{TYTO}'; _tyto; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = run_command(["bash", "-c", script], capture_output=True, text=True, check=True, env=self.environment,
                              cwd=self.path, timeout=SECONDS)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands_and_options_come_from_the_tables(self):
        helped = self.tyto("help").stdout.split("Commands:")[1]
        self.assertEqual(self.complete(""), [line.split()[0] for line in helped.splitlines() if line.startswith("  ")])
        self.assertEqual(self.complete("comp"), ["compare", "completion"])
        offered = self.complete("sweep", "--")
        for option in [word for word in self.tyto("help", "sweep").stdout.split() if word.startswith("--")]:
            if option.strip(".,:") in ("--x", "--retry", "--csv", "--machines", "--memory"):
                self.assertIn(option.strip(".,:"), offered)
        self.assertEqual(self.complete("run", "--per"), ["--per-unit", "--per-unit-csv"])

    def test_values_are_offered(self):
        self.assertEqual(self.complete("run", "--machine", "ow"), ["owl"])
        self.assertEqual(self.complete("run", "--machine", "=", "ow"), ["owl"])
        self.assertEqual(self.complete("run", "--scheduler", "tw"), ["two-level", "two-level-active"])
        self.assertEqual(self.complete("compare", "--schedulers", "lrr,cc"), ["lrr,ccws"])
        self.assertEqual(self.complete("run", "--cta-scheduler", "m"), ["md"])
        self.assertEqual(self.complete("run", "mat"), ["matmul"])
        self.assertEqual(self.complete("sweep", "--engine", ""), ["local", "slurm"])
        self.assertEqual(self.complete("reproduce", "owl-figure-7"), ["owl-figure-7"])
        self.assertEqual(self.complete("reproduce", "--size", "p"), ["paper"])
        self.assertEqual(self.complete("explain", "l1d_MP"), ["l1d_MPKI"])
        self.assertEqual(self.complete("machines", "gt"), ["gtx480"])
        self.assertEqual(self.complete("help", "explai"), ["explain"])
        self.assertEqual(self.complete("new", ""), ["scheduler", "cta-scheduler"])
        self.assertEqual(self.complete("run", "--json", ""), [])  # a file name: bash completes those itself
        self.assertEqual(self.complete("nothing", ""), [])

    def test_zsh_accepts_its_script(self):
        self.assertTrue((COMPLETION / "_tyto").read_text().startswith("#compdef tyto\n"))
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        run_command(["zsh", "-n", COMPLETION / "_tyto"], check=True, timeout=SECONDS)

    def test_another_shell_is_told(self):
        self.assertIn("did you mean 'bash'?", self.tyto("completion", "bsh", status=2).stderr)


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad))
