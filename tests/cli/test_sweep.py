#!/usr/bin/env python3
"""tyto sweep: combinations, files, tables, mistakes, failures, and what remains when it is killed.

usage: test_sweep.py TYTO ROOT
"""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tyto_runs import DEFAULT_MACHINE as DEFAULT, many_runs, run_command  # noqa: E402 (found by the line above)

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SECONDS = 170
GRID = ("--set", "l1d.size=16KiB,32KiB,64KiB", "--schedulers", "lrr,swl:limit=1..2", "--sizes", "test",
        "--machines", "gtx480")
FILE = """
programs: [spmv --rows 300, vecadd]
machines: owl
set: {l1d.latency: [40, 60]}
schedulers: [lrr, 'swl:limit=1..2']
sizes: test
seeds: 1..2
metrics: [cycles, ipc]
"""


def ranks(numbers):
    """The rank of each value; equal values have the mean of their ranks."""
    order = sorted(numbers)
    return [order.index(number) + (order.count(number) - 1) / 2 for number in numbers]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "tmp").mkdir()
        self.environment = {**PLAIN, "TMPDIR": str(self.path / "tmp")}

    def tyto(self, *words, **variables):
        return run_command([TYTO, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.path,
                              env={**self.environment, **variables}, timeout=SECONDS)

    def sweep(self, *words, status=0, **variables):
        done = self.tyto("sweep", *words, **variables)
        self.assertEqual(done.returncode, status, f"{done.stdout}{done.stderr}")
        self.assertEqual(os.listdir(self.path / "tmp"), [])  # no temporary file is left
        return done

    def rows(self, what="*", table="canonical", database="tyto-runs.sqlite"):
        connection = sqlite3.connect(self.path / database)
        try:
            return connection.execute(f"SELECT {what} FROM {table}").fetchall()
        finally:
            connection.close()

    def program(self, text, name="program"):
        path = self.path / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path


class Combinations(Case):
    def test_every_combination_is_run_once_and_named_in_the_csv(self):
        self.sweep("spmv", "vecadd", *GRID, "--csv", "t.csv")
        with open(self.path / "t.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        named = [(row["program"], row["l1d.size"], row["scheduler"]) for row in rows]
        self.assertEqual(named, [(program, size, policy) for program in ("spmv", "vecadd")
                                 for size in ("16KiB", "32KiB", "64KiB")
                                 for policy in ("lrr", "swl:limit=1", "swl:limit=2")])
        for row in rows:
            self.assertEqual((row["machine"], row["size"], row["seed"], row["state"]), ("gtx480", "test", "1", "done"))
            self.assertEqual(row["overrides"], "l1d.size=" + row["l1d.size"])
            self.assertGreater(int(row["cycles"]), 0)
        self.assertEqual(len(self.rows()), 18)

    @many_runs
    def test_a_value_is_that_of_a_run_of_its_own(self):
        self.sweep("spmv", *GRID, "--seeds", "7", "--csv", "t.csv")
        self.tyto("run", "--quiet", "--machine", "gtx480", "--set", "l1d.size=32KiB", "--scheduler", "swl:limit=2", "--json", "r.json", "spmv",
                  "--size", "test", "--seed", "7")
        own = json.loads((self.path / "r.json").read_text(encoding="utf-8"))["total"]
        with open(self.path / "t.csv", encoding="utf-8") as file:
            row, = (row for row in csv.DictReader(file) if (row["l1d.size"], row["scheduler"]) == ("32KiB", "swl:limit=2"))
        for name in ("cycles", "warp_instructions", "l1d_misses", "l2_accesses"):
            self.assertEqual(int(row[name]), own[name])
        self.assertAlmostEqual(float(row["ipc"]), own["ipc"])

    @many_runs
    def test_a_file_says_the_same_as_the_options(self):
        (self.path / "s.yaml").write_text(FILE, encoding="utf-8")
        first = self.sweep("s.yaml", "--json", "a.json")
        self.assertIn("2 programs x 2 l1d.latency x 2 seeds x 3 schedulers = 24 runs, machine owl", first.stdout)
        second = self.sweep("spmv --rows 300", "vecadd", "--machines", "owl", "--set", "l1d.latency=40,60", "--schedulers",
                            "lrr,swl:limit=1..2", "--sizes", "test", "--seeds", "1,2", "--metrics", "cycles,ipc",
                            "--json", "b.json")
        self.assertEqual(first.stdout, second.stdout)
        load = lambda name: json.loads((self.path / name).read_text(encoding="utf-8"))["runs"]
        self.assertEqual(load("a.json"), load("b.json"))
        self.assertEqual(len(self.rows()), 24)

    def test_sizes_and_seeds_of_workloads_are_looked_at_before_the_first_run(self):
        self.assertIn("there is no size of a workload (test, small, paper or a whole number) 'tset'; "
                      "did you mean 'test'?",
                      self.sweep("vecadd", "--sizes", "tset", status=2).stderr)
        (self.path / "s.yaml").write_text("programs: vecadd\nsizes: test\nseeds: [1, one]\n", encoding="utf-8")
        self.assertIn("s.yaml:3:12: error: there is no seed (a whole number) 'one'", self.sweep("s.yaml", status=2).stderr)

    def test_all_is_every_workload_of_the_suites(self):
        listed = self.tyto("workloads").stdout
        own = re.findall(r"(?m)^  (\w+) ", listed.split("\nTyto\n")[1].split("\n\n")[0])
        names = [name for name in re.findall(r"(?m)^  (\w+) ", listed) if name not in own]
        done = self.sweep("all", "--machines", "gtx480", "--sizes", "test", "--stored", "--csv", "t.csv", status=1)
        self.assertIn(f"{len(names)} programs = {len(names)} runs", done.stdout)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            self.assertEqual(sorted(row["program"] for row in csv.DictReader(file)), sorted(names))

    @many_runs
    def test_a_baseline_has_speed_ups_and_their_means(self):
        words = ("spmv", "vecadd", "--machines", "gtx480", "--schedulers", "lrr,gto,swl:limit=1", "--sizes", "test", "--seeds", "1..2")
        done = self.sweep(*words, "--baseline", "gto", "--json", "s.json", "--plot", "s.svg")
        runs = json.loads((self.path / "s.json").read_text(encoding="utf-8"))
        self.assertEqual(runs["baseline"], "gto")
        cycles = {tuple(run["values"][name] for name in ("program", "seed", "scheduler")): run["result"]["total"]["cycles"] for run in runs["runs"]}
        table = done.stdout.split("speed-up over gto (ratio of cycles)\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(table[0].split(), ["program", "seed", "lrr", "gto", "swl:limit=1"])
        gains = []
        for row in table[1:5]:
            program, seed, *shown = row.replace("*", "").split()
            gains.append([cycles[program, seed, "gto"] / cycles[program, seed, policy] for policy in ("lrr", "gto", "swl:limit=1")])
            self.assertEqual(shown, [f"{gain:.3f}" for gain in gains[-1]])
        for line, mean in zip(table[5:], (statistics.fmean, statistics.geometric_mean, statistics.harmonic_mean)):
            self.assertEqual(line.replace("*", "").split()[2:], [f"{mean(column):.3f}" for column in zip(*gains)])
        self.assertEqual([line.split()[0] for line in table[5:8]], ["arithmetic", "geometric", "harmonic"])
        self.check_ranking(done.stdout, gains)
        picture = (self.path / "s.svg").read_text(encoding="utf-8")
        for text in ("speed-up over gto (ratio of cycles)", "geometric mean", "swl:limit=1", "spmv, 2"):
            self.assertIn(text, picture)
        (self.path / "s.yaml").write_text("programs: [spmv, vecadd]\nmachines: gtx480\nschedulers: [lrr, gto, 'swl:limit=1']\nsizes: test\nseeds: 1..2\nbaseline: gto\n", encoding="utf-8")
        self.assertEqual(self.sweep("s.yaml").stdout, done.stdout)

    def check_ranking(self, text, gains):
        """Two programs of two rows each. In a quarter of the draws one program is drawn twice, which is more than the
        outer 2.5%."""
        lines = text.split("\nranking ")[1].split("\n\n")[0].splitlines()
        shown = {line.split()[0]: line.split()[1:] for line in lines[1:-1]}
        share = lambda column, counts: f"{100 * sum(map(counts, column)) / len(column):.0f}%"
        mean = statistics.geometric_mean
        for policy, bits, column in zip(("lrr", "gto", "swl:limit=1"), ("-", "-", "6"), zip(*gains)):
            programs = [mean(column[:2]), mean(column[2:])]
            numbers = [f"{value:.3f}" for value in (mean(column), min(programs), max(programs))]
            shares = [share(column, lambda gain: gain >= 1.02), share(column, lambda gain: gain <= 0.98)]
            self.assertEqual(shown[policy], [*numbers, *shares, f"{min(column):.3f}", bits])
        order = [float(line[0]) for line in shown.values()]
        self.assertEqual(order, sorted(order, reverse=True))
        best = mean([max(row) for row in gains])
        self.assertEqual(lines[-1], f"the best of each row together: {best:.3f} (geometric mean)")

    @many_runs
    def test_a_league_tells_what_changed_and_what_goes_with_it(self):
        policies = ("gto", "lrr", "swl:limit=1")
        done = self.tyto("league", "spmv", "bfs", "--machines", "ccws", "--schedulers", ",".join(policies), "--sizes", "test", "--seeds", "1..3", "--json", "s.json")
        runs = json.loads((self.path / "s.json").read_text(encoding="utf-8"))["runs"]
        total = {tuple(run["values"][name] for name in ("scheduler", "program", "seed")): run["result"]["total"] for run in runs}
        rows = [key[1:] for key in total if key[0] == "gto"]
        quantities = {"own hits": lambda run: run["l1d_intra_warp_hits"] / run["l1d_accesses"], "others' hits": lambda run: run["l1d_inter_warp_hits"] / run["l1d_accesses"],
                      "throttled": lambda run: run["throttled"] / run["scheduler_cycles"], "idle": lambda run: run["idle_share"],
                      "warps": lambda run: run["resident_warps"], "row hits": lambda run: run["RBL"]}
        what, goes = (self.cells(done.stdout, heading, (*quantities, "prefetches used")) for heading in ("what changed (mean)", "goes with speed-up"))
        for policy in policies:
            self.assertEqual((what[policy]["prefetches used"], goes[policy]["prefetches used"]), ("-", "-"))
            gains = [total["gto", *row]["cycles"] / total[policy, *row]["cycles"] for row in rows]
            for name, quantity in quantities.items():
                now = [quantity(total[policy, *row]) for row in rows]
                mean = statistics.fmean(now)
                self.assertEqual(what[policy][name], f"{mean:.1f}" if name == "warps" else f"{100 * mean:.1f}%", name)
                changes = [after - quantity(total["gto", *row]) for after, row in zip(now, rows)]
                try:
                    expected = f"{statistics.correlation(ranks(gains), ranks(changes)):+.2f}"
                except statistics.StatisticsError:  # all rows have the same value
                    expected = "-"
                self.assertEqual(goes[policy][name], expected, name)
        self.assertGreater(sum(cell != "-" for cell in goes["swl:limit=1"].values()), 3)
        few = self.tyto("league", "spmv", "--machines", "ccws", "--schedulers", "gto,lrr", "--sizes", "test", "--seeds", "1..2").stdout
        self.assertIn("what changed (mean)", few)
        self.assertNotIn("goes with speed-up", few)

    @staticmethod
    def cells(text, heading, names):
        """The cells of a table of causes, by policy and column. A column ends where its heading ends."""
        head, *lines = text.split("\n" + heading)[1].split("\n\n")[0].splitlines()
        ends = [len(heading) + head.index(name) + len(name) for name in names]
        starts = [len(heading)] + ends
        return {line.split()[0]: {name: line[start:end].strip() for name, start, end in zip(names, starts, ends)} for line in lines}

    @many_runs
    def test_a_league_writes_a_page(self):
        words = ("league", "spmv", "kmeans", "sssp", "--machines", "ccws,gtx480", "--sizes", "test", "--schedulers", "gto,lrr,swl:limit=4")
        done = self.tyto(*words, "--markdown", "page.md", "--csv", "runs.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.path / "page.md").read_text(encoding="utf-8")
        sections = dict(re.findall(r"(?ms)^## ([^\n]+)\n\n(.*?)(?=\n## |\Z)", page))
        self.assertEqual(list(sections), ["Ranking", "Which scheduler, when", "What changed", "What goes with a speed-up", "The best of each row"])
        table = {name: [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in text.splitlines()] for name, text in sections.items()}
        with open(self.path / "runs.csv", encoding="utf-8") as file:
            runs = {(row["program"], row["machine"], row["scheduler"]): row for row in csv.DictReader(file)}
        gain = lambda row, policy: int(runs[(*row, "gto")]["cycles"]) / int(runs[(*row, policy)]["cycles"])
        rows = [key[:2] for key in runs if key[2] == "gto"]
        mean = lambda policy, rows: statistics.geometric_mean([gain(row, policy) for row in rows])
        best = lambda rows: statistics.geometric_mean([max(gain(row, policy) for policy in ("gto", "lrr", "swl:limit=4")) for row in rows])
        ranking = {cells[0]: cells[1:] for cells in table["Ranking"][2:]}
        self.assertEqual(table["Ranking"][0][:4], ["scheduler", "geo. mean", "ccws", "gtx480"])
        for policy in ("gto", "lrr", "swl:limit=4"):
            means = [mean(policy, [row for row in rows if machine in ("", row[1])]) for machine in ("", "ccws", "gtx480")]
            self.assertEqual(ranking[policy][:3], [f"{value:.3f}" for value in means])
        self.assertEqual(ranking["*best of each row*"][0], f"{best(rows):.3f}")
        self.assertGreater(float(ranking["lrr"][-1]), 0)
        evicting = [row for row in rows if int(runs[(*row, "gto")]["l1d_evictions"]) >= 0.25 * int(runs[(*row, "gto")]["l1d_accesses"])]
        self.assertGreater(len(evicting), 0)
        self.assertLess(len(evicting), len(rows))
        chosen = {cells[0].split(":")[0]: cells[1:] for cells in table["Which scheduler, when"][2:]}
        self.assertEqual(chosen["all rows"][0], str(len(rows)))
        self.assertEqual((chosen["L1D evictions"][0], chosen["L1D evictions"][-1]), (str(len(evicting)), f"{best(evicting):.3f}"))
        picked, value = chosen["L1D evictions"][1].replace("`", "").split()
        self.assertEqual(value, f"{max(mean(policy, evicting) for policy in ('gto', 'lrr', 'swl:limit=4')):.3f}")
        self.assertEqual(value, f"{mean(picked, evicting):.3f}")
        self.assertEqual(len(table["The best of each row"]) - 2, len(rows))
        self.check_marks(words)
        self.assertIn("--markdown writes speed-ups: name their --baseline", self.sweep("vecadd", "--sizes", "test", "--markdown", "x.md", status=2).stderr)

    def check_marks(self, words):
        """Only what is between the marks of a page changes."""
        page = self.path / "mine.md"
        page.write_text("# Mine\n\nA.\n\n<!-- league -->\nold\n<!-- end -->\n\nB.\n", encoding="utf-8")
        self.assertEqual(self.tyto(*words, "--stored", "--markdown", "mine.md").returncode, 0)
        text = page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Mine\n\nA.\n\n<!-- league -->\n\nTyto ") and text.endswith("\n<!-- end -->\n\nB.\n"), text)
        self.assertNotIn("old", text)

    def test_a_file_takes_part_in_a_league(self):
        shutil.copy(ROOT / "docs" / "examples" / "climb.c", self.path / "mine.c")
        done = self.tyto("league", "spmv", "vecadd", "--machines", "gtx480", "--sizes", "test", "--schedulers", "./mine.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        ranking = {line.split()[0]: line.split() for line in done.stdout.split("\nranking ")[1].split("\n\n")[0].splitlines()[1:-1]}
        self.assertEqual(sorted(ranking), ["./mine.c", "gto"])
        self.assertEqual(ranking["./mine.c"][-1], "103")

    def test_machines_of_a_file_are_next_to_it(self):
        (self.path / "in").mkdir()
        for sms in (1, 2):
            (self.path / "in" / f"small-{sms}.yaml").write_text(f"base: gtx480\nname: small-{sms}\ntitle: small\ngpu:\n  sms: {sms}\n", encoding="utf-8")
        (self.path / "in" / "league.yaml").write_text("programs: vecadd\nmachines: [small-1.yaml, ./small-2.yaml]\nsizes: test\nschedulers: [lrr, gto]\n", encoding="utf-8")
        done = self.tyto("league", "in/league.yaml", "--markdown", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| `small-1` | `small-2` | 95% from |", done.stdout)
        self.assertIn("\n| `small-2` | ", done.stdout)
        (self.path / "in" / "one.yaml").write_text("programs: vecadd\nmachines: missing.yaml\n", encoding="utf-8")
        self.assertIn("in/one.yaml:2:11: error: in/missing.yaml: cannot be read", self.sweep("in/one.yaml", status=2).stderr)

    def test_a_league_keeps_what_its_file_says(self):
        (self.path / "l.yaml").write_text("programs: vecadd\nmachines: gtx480\nsizes: test\nschedulers: [lrr, oldest]\n", encoding="utf-8")
        done = self.tyto("league", "l.yaml", "--stored")
        self.assertIn("3 schedulers", done.stdout)
        self.assertIn("speed-up over gto", done.stdout)
        (self.path / "l.yaml").write_text("programs: vecadd\nmachines: gtx480\nsizes: test\nschedulers: [lrr, oldest]\nbaseline: lrr\n", encoding="utf-8")
        done = self.tyto("league", "l.yaml", "--stored")
        self.assertIn("2 schedulers", done.stdout)
        self.assertIn("speed-up over lrr", done.stdout)
        self.assertIn("speed-up over oldest", self.tyto("league", "l.yaml", "--stored", "--baseline", "oldest").stdout)

    def test_a_league_has_its_baseline(self):
        done = self.tyto("league", "vecadd", "--machines", "gtx480", "--sizes", "test", "--schedulers", "lrr", "--stored")
        self.assertIn("2 schedulers", done.stdout)
        self.assertIn("speed-up over gto", done.stdout)

    @many_runs
    def test_a_league_is_of_all_schedulers_over_gto(self):
        listed = re.findall(r"(?m)^  ([\w-]+)$", self.tyto("schedulers").stdout.split("CTA schedulers")[0])
        self.assertIn("gto", listed)
        done = self.tyto("league", "vecadd", "--machines", "gtx480", "--sizes", "test", "--stored")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{len(listed)} schedulers", done.stdout)
        self.assertIn("speed-up over gto", done.stdout)
        done = self.tyto("league", "vecadd", "--machines", "gtx480", "--sizes", "test", "--schedulers", "lrr,ccws", "--baseline", "lrr", "--stored")
        self.assertIn("speed-up over lrr", done.stdout)
        listed = re.findall(r"(?m)^  ([\w-]+)$", self.tyto("schedulers").stdout.split("CTA schedulers")[1])
        done = self.tyto("sweep", "vecadd", "--machines", "gtx480", "--sizes", "test", "--cta-schedulers", "all", "--stored")
        self.assertIn(f"{len(listed)} cta_schedulers", done.stdout)
        everything = self.tyto("league", "--machines", "gtx480", "--sizes", "test", "--stored").stdout
        self.assertEqual(everything, self.tyto("sweep", "all", "--machines", "gtx480", "--sizes", "test", "--schedulers", "all", "--baseline", "gto", "--stored").stdout)

    def test_a_baseline_is_one_of_the_columns(self):
        done = self.sweep("vecadd", "--schedulers", "lrr,two-level", "--sizes", "test", "--baseline", "two-levl", status=2)
        self.assertIn("there is no scheduler 'two-levl'; did you mean 'two-level'?", done.stderr)
        done = self.sweep("vecadd", "spmv", "--sizes", "test", "--baseline", "lrr", status=2)
        self.assertIn("a baseline needs several schedulers, or values of a machine", done.stderr)

    def test_a_plot_without_room_is_refused_before_anything_runs(self):
        done = self.sweep("vecadd", "--machines", "gtx480", "--sizes", "test", "--set", "l1d.size=16KiB,32KiB", "--schedulers", "swl:limit=1..30", "--plot", "s.svg", status=2)
        self.assertIn("--plot: more than 64 programs, or more than 24 lines for a program", done.stderr)
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())

    def test_watching_without_a_database_ends_at_once(self):
        began = time.monotonic()
        done = self.sweep("vecadd", "--machines", "gtx480", "--sizes", "test", "--watch", "--database", "none.sqlite", status=2)
        self.assertIn("--watch: there is no database none.sqlite", done.stderr)
        self.assertLess(time.monotonic() - began, 60)
        self.assertFalse((self.path / "none.sqlite").exists())

    @unittest.skipUnless(shutil.which("squeue"), "Slurm's commands are not installed")
    def test_a_host_without_a_cluster_is_told(self):
        """Slurm's own command, which asks the network for a configuration, may wait for a minute."""
        (self.path / "bin").mkdir()
        self.program("echo asked >> asked; exit 1", "bin/scontrol")
        done = self.sweep("vecadd", "--machines", "gtx480", "--sizes", "test", "--engine", "slurm", status=1, SLURM_CONF="/nowhere/slurm.conf",
                          PATH=f"{self.path / 'bin'}:{os.environ['PATH']}")
        self.assertIn("--engine slurm: this host belongs to no cluster", done.stderr)
        self.assertTrue((self.path / "asked").exists())

    def test_what_the_command_line_says_goes_before_the_file(self):
        (self.path / "s.yaml").write_text(FILE, encoding="utf-8")
        done = self.sweep("s.yaml", "--schedulers", "gto", "--seeds", "3")
        self.assertIn("2 programs x 2 l1d.latency = 4 runs, machine owl, size test, seed 3, scheduler gto", done.stdout)
        done = self.sweep("s.yaml", "--schedulers", "gto", "--seeds", "3", "--machine", "ccws", "--cta-scheduler", "limit", "--stored", status=1)
        self.assertIn(" = 4 runs, machine ccws, size test, seed 3, cta_scheduler limit, scheduler gto", done.stdout)

    @many_runs
    def test_a_program_of_ones_own_takes_sizes_where_it_says_so(self):
        self.program('exec "$WORKLOADS/vecadd" --size "$1"')
        self.sweep("./program {size}", "./program 300", "--sizes", "100,200", "--csv", "t.csv",
                   WORKLOADS=str(TYTO.parent / "workloads"))
        with open(self.path / "t.csv", encoding="utf-8") as file:
            rows = [(row["program"], row["size"], row["seed"]) for row in csv.DictReader(file)]
        self.assertEqual(rows, [("./program {size}", "100", "1"), ("./program {size}", "200", "1"),
                                ("./program 300", "300", "1")])  # the requested size, else the size that the run reports

    def test_a_size_stands_wherever_a_word_says_so(self):
        self.program('echo "$1"; exit 9')
        self.assertIn("7x7,1\n", self.sweep("./program {size}x{size},{seed}", "--sizes", "7", status=1).stderr)

    @many_runs
    def test_a_workload_that_says_its_size_takes_no_other(self):
        done = self.sweep("vecadd --size 300", "vecadd --size 400 --seed 2", "--sizes", "test,small")
        self.assertEqual(self.rows("program, size, seed"), [("vecadd --size 300", "", "1"), ("vecadd --size 400 --seed 2", "", "")])
        done = self.sweep("vecadd --size=500", "vecadd --seed=2 --size=600", "--stored", status=1)
        self.assertTrue(done.stdout.startswith(f"2 programs = 2 runs, machine {DEFAULT}, seed 1\n"), done.stdout)
        done = self.sweep("vecadd --size 300 --seed 2")
        self.assertTrue(done.stdout.startswith(f"1 run, program vecadd --size 300 --seed 2, machine {DEFAULT}\n"), done.stdout)

    def test_a_table_marks_the_best_of_each_row(self):
        shown = self.sweep("spmv", *GRID, "--metrics", "ipc,cycles,l1d_miss_rate", "--csv", "t.csv").stdout
        with open(self.path / "t.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        policies = ("lrr", "swl:limit=1", "swl:limit=2")
        for size in ("16KiB", "32KiB", "64KiB"):
            cycles = [int(row["cycles"]) for row in rows if row["l1d.size"] == size]
            best = min(cycles)
            wanted = [size] + [f"{one:,}*" if one == best else f"{one:,}" for one in cycles]
            self.assertIn(wanted, [line.split() for line in shown.splitlines()])
            rates = [f"{100 * float(row['l1d_miss_rate']):.1f}%" for row in rows if row["l1d.size"] == size]
            self.assertIn([size, *rates], [line.split() for line in shown.splitlines()])
        self.assertEqual(shown.count("*"), 3 + 3 + 1, shown)  # for ipc and cycles, and in the legend
        self.assertIn(["l1d.size", *policies], [line.split() for line in shown.splitlines()])

    @many_runs
    def test_tables_are_aligned_by_columns_and_not_by_bytes(self):
        shutil.copy(self.program('exec "$WORKLOADS/vecadd" --size 100'), self.path / "größe漢")
        shown = self.sweep("./program", "./größe漢", "--schedulers", "lrr,gto", WORKLOADS=str(TYTO.parent / "workloads")).stdout
        rows = shown.split("\nipc\n")[1].splitlines()
        self.assertRegex(rows[0], "^program          lrr       gto$")
        self.assertRegex(rows[1], r"^\./program  [ \d.]{9}[ *][ \d.]{9}\*?$")
        self.assertRegex(rows[2], r"^\./größe漢  [ \d.]{9}[ *][ \d.]{9}\*?$")

    @many_runs
    def test_a_plot_has_a_graph_for_each_program_and_a_line_for_each_policy(self):
        if not any((pathlib.Path(folder) / "gnuplot").exists() for folder in os.environ["PATH"].split(":")):
            self.skipTest("gnuplot is not installed")
        self.sweep("spmv", "vecadd", *GRID, "--plot", "p.svg")
        picture = (self.path / "p.svg").read_text(encoding="utf-8")
        for text in ("spmv", "vecadd", "l1d.size", "16KiB", "lrr", "swl:limit=2", "ipc by l1d.size, machine gtx480"):
            self.assertIn(text, picture)
        self.sweep("spmv", "vecadd", *GRID, "--stored", "--plot", "p.pdf")
        self.assertTrue((self.path / "p.pdf").read_bytes().startswith(b"%PDF"))

    def test_standard_output_holds_what_was_asked_for_alone(self):
        done = self.sweep("vecadd", "--sizes", "test", "--csv", "-")
        self.assertEqual(len(list(csv.reader(done.stdout.splitlines()))), 2)
        self.assertEqual(json.loads(self.sweep("vecadd", "--sizes", "test", "--json", "-").stdout)["metrics"], ["ipc"])


class Options(Case):
    """Options of the simulator; they apply to every run."""

    def options(self, text):
        (self.path / "s.yaml").write_text(f"programs: vecadd\nsizes: test\noptions: {text}\n", encoding="utf-8")

    def test_a_files_are_those_of_the_command_line_unless_it_has_them_too(self):
        self.options("[--memory=1GiB, --stack, 32KiB]")
        self.sweep("s.yaml", "--memory", "2GiB")
        self.assertEqual(self.rows("options"), [("--memory 2GiB --stack 32KiB",)])
        self.sweep("vecadd", "--sizes", "test", "--stack", "32KiB", "--memory", "1GiB", "--memory", "2GiB", "--stored")

    def test_those_that_leave_no_trace_keep_no_run_apart(self):
        self.sweep("vecadd", "--sizes", "test")
        for words in (("--threads", "2"), ("--allow-plugins",)):
            self.sweep("vecadd", "--sizes", "test", *words, "--stored")
        self.sweep("vecadd", "--sizes", "test", "--profile", "--stored", status=1)

    def test_code_that_a_machine_names_is_loaded_where_that_is_allowed(self):
        shutil.copy(ROOT / "docs" / "examples" / "turns.c", self.path)
        (self.path / "mine.yaml").write_text("base: gtx480\nname: mine\nscheduler:\n  policy: ./turns.c\n", encoding="utf-8")
        self.options("[--allow-plugins]\nmachines: ./mine.yaml")
        self.sweep("s.yaml")
        self.sweep("vecadd", "--machine", "./mine.yaml", "--sizes", "test", "--allow-plugins", "--stored")
        self.assertIn("only with --allow-plugins", self.sweep("vecadd", "--machine", "./mine.yaml", status=2).stderr)

    def test_what_would_not_be_what_the_sweep_says_is_refused_at_its_place(self):
        for text, place, what in (("[--machine, ccws]", "3:11", "give the value of --machine in the field 'machines'"),
                                  ("[--scheduler=pro]", "3:11", "give the value of --scheduler in the field 'schedulers'"),
                                  ("[--cta-scheduler, md]", "3:11", "give the value of --cta-scheduler in the field 'cta_schedulers'"),
                                  ("[--set, l1d.ways=2]", "3:11", "give the value of --set in the field 'set'"),
                                  ("[--stack, 32KiB, --timeline, t.json]", "3:27", "--timeline is for a single run, and a sweep makes several"),
                                  ("--functional", "3:10", "--functional is for a single run"), ("--quiet", "3:10", "--quiet is for a single run"),
                                  ("[--memry, 1GiB]", "3:11", "no option of the simulator '--memry'; did you mean '--memory'?"),
                                  ("[--memory]", "3:11", "--memory needs a value: SIZE"),
                                  ("[--memory, 3Q]", "3:21", "--memory 3Q: not a size"),
                                  ("[--profile=1]", "3:11", "--profile takes no value"),
                                  ("[1GiB]", "3:11", "no option of the simulator '1GiB'")):
            self.options(text)
            said = self.sweep("s.yaml", status=2).stderr
            self.assertIn(f"s.yaml:{place}: error: ", said, text)
            self.assertIn(what, said)
            self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())


class Mistakes(Case):
    def test_those_of_a_file_are_told_at_their_places_before_anything_runs(self):
        (self.path / "s.yaml").write_text("programs: [spmv, vecad]\nmachines: [owl, owll]\nset:\n  l1d.size: [16KiB]\n"
                                          "schedulers: [lrr,\n  gtoo]\nmetrics: [ipcc]\nx: l1d.sise\n", encoding="utf-8")
        said = self.sweep("s.yaml", status=2).stderr
        for place, word in (("1:18", "'vecadd'?"), ("2:17", "'owl'?"), ("6:3", "'gto'?"), ("7:11", "'ipc'?"),
                            ("8:4", "'l1d.size'?")):
            self.assertRegex(said, rf"(?m)^s\.yaml:{place}: error: .*{word[:-1]}\?$")
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())
        (self.path / "s.yaml").write_text("programs: spmv\nset: {l1d.latency: 40,\n  l1d.sise: 3}\n", encoding="utf-8")
        self.assertIn("s.yaml:3:13: error: l1d.sise: no such key; did you mean 'l1d.size'?",
                      self.sweep("s.yaml", status=2).stderr)
        (self.path / "s.yaml").write_text("programs: spmv\nset:\n  l1d.latency: 40\n  l1d.latency: 60\n", encoding="utf-8")
        self.assertIn("error: l1d.latency is set twice", self.sweep("s.yaml", status=2).stderr)
        (self.path / "s.yaml").write_text("programs: spmv\n---\nprograms: vecadd\n", encoding="utf-8")
        self.assertEqual(self.sweep("s.yaml", status=2).stderr, "s.yaml:2:1: error: only a single document is allowed\n")
        (self.path / "s.yaml").write_text("programs: []\n", encoding="utf-8")
        self.assertEqual(self.sweep("s.yaml", status=2).stderr, "s.yaml:1:11: error: needs at least one item: 'programs'\n")
        (self.path / "s.yaml").write_text("programs: spmv\nset:\n  l1d.size: []\n", encoding="utf-8")
        self.assertEqual(self.sweep("s.yaml", status=2).stderr, "s.yaml:3:13: error: needs at least one item: 'l1d.size'\n")

    def test_those_in_a_file_that_is_named_are_told_with_their_place_there(self):
        (self.path / "m.yaml").write_text("base: gtx480\nname: m\nl1d:\n  sise: 3KiB\n", encoding="utf-8")
        (self.path / "s.yaml").write_text("programs: vecadd\nmachines: [./m.yaml, ./none.yaml]\n", encoding="utf-8")
        at_its_place = "./m.yaml:4:9: l1d.sise: no such key; did you mean 'l1d.size'?\n"
        is_not_there = "./none.yaml: cannot be read: No such file or directory\n"
        self.assertEqual(self.sweep("s.yaml", status=2).stderr, f"s.yaml:2:12: error: {at_its_place}s.yaml:2:22: error: {is_not_there}")
        self.assertEqual(self.sweep("vecadd", "--machines", "./m.yaml", status=2).stderr, f"tyto: error: {at_its_place}")

    def test_those_of_the_command_line_too(self):
        for words, what in ((("vecad",), "did you mean 'vecadd'?"), (("vecadd", "--machines", "owll"), "'owl'?"),
                            (("vecadd", "--schedulers", "lrr,gtoo"), "'gto'?"), (("vecadd", "--metrics", "ipcc"), "'ipc'?"),
                            (("vecadd", "--set", "l1d.sise=3"), "'l1d.size'?"), (("vecadd", "--set", "l1d"), "KEY=VALUE"),
                            (("vecadd", "--x", "nothing"), "'nothing'"), (("vecadd 'x",), "quote is open"),
                            (("vecadd", "--seeds", "1..70000"), "too many values"), (("vecadd", "--scheduler", "lrr"), "tyto run"),
                            (("vecadd", "--seeds", "1..4096", "--schedulers", "swl:limit=1..32"), "more than 65536 runs"),
                            (("vecadd", "--schedulers", "swl:limit=1..99999"), "too many values"),
                            (("vecadd", "--schedulers", "swl:limit=3..1"), "swl:limit=3..1: the range is empty"),
                            (("vecadd", "--seeds", "3..1"), "3..1: the range is empty, as it ends before it begins"),
                            (("vecadd", "--schedulers", "swl:limit=1..4000"), "limit=65: out of bounds"),
                            (("vecadd", "--set", "l1d.size=16KiB", "--set", "l1d.size=32KiB"), "l1d.size is set twice"),
                            (("vecadd", "--machine", "owl", "--machines", "ccws"), "--machine and --machines cannot both"),
                            (("vecadd", "--cta-scheduler", "md", "--cta-schedulers", "md"), "--cta-schedulers cannot both"),
                            (("vecadd", f"--seeds={-2**63}..{2**63 - 1}"), "too many values"),
                            (("",), "a program is expected")):
            said = self.sweep(*words, status=2).stderr
            self.assertIn(what, said, words)
            self.assertEqual(said.count("\n"), 1, words)
        for command in (("sweep", "vecadd"), ("compare", "vecadd"), ("launch", ROOT / "tests" / "cli" / "saxpy.ptx")):
            done = self.tyto(*command, TYTO_OPTIONS="--memory 1GiB")
            self.assertEqual(done.returncode, 2, command)
            self.assertIn("TYTO_OPTIONS is set", done.stderr)


class Failures(Case):
    def test_a_failure_is_told_at_the_end_kept_and_tried_again_on_request(self):
        self.program('echo run >> tries; test -e good && exec "$WORKLOADS/vecadd" --size 100; echo reason; exit 3')
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        words = ("./program", "vecadd", "--sizes", "test")
        done = self.sweep(*words, status=1, **variables)
        self.assertIn("reason", done.stderr)
        last = f"1 of 2 runs failed; the same command with --retry repeats them:\n  ./program on {DEFAULT} failed with status 3\n"
        self.assertTrue(done.stderr.endswith(last), done.stderr)
        self.assertRegex(done.stdout, r"(?m)^vecadd +\d")
        self.assertEqual(self.rows("program, reason, output", "failures"),
                         [("./program", "failed with status 3", "reason\n")])
        done = self.sweep(*words, status=1, **variables)
        self.assertEqual(done.stderr, last)
        self.assertEqual((self.path / "tries").read_text(encoding="utf-8").count("run"), 1)
        (self.path / "good").touch()
        self.sweep(*words, "--retry", **variables)
        self.assertEqual((self.rows("*", "failures"), len(self.rows())), ([], 2))

    @many_runs
    def test_a_run_of_which_no_launch_is_timed_is_one(self):
        for words in (("--kernels", "nope"), ("--skip", "100")):
            said = self.sweep("vecadd", "--sizes", "test", *words, status=1).stderr
            self.assertIn("had no timed launch: --kernels and --skip excluded all launches of the program", said)
            done = self.tyto("compare", "--schedulers", "lrr,gto", *words, "vecadd", "--size", "test")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("had no timed launch", done.stderr)
        self.assertEqual(self.rows(), [])
        self.sweep("vecadd", "--sizes", "test", "--kernels", "vec*")

    def test_a_run_without_an_end_is_bounded_by_its_instructions_or_by_timeout(self):
        done = self.sweep("vecadd", "--sizes", "test", "--limit-insts", "10", status=1)
        self.assertIn("the limit of 10 warp instructions is reached", done.stderr)
        self.program('test "$1" = loop && while :; do sleep 0.1; done; exec "$WORKLOADS/vecadd" --size 50')
        done = self.sweep("timeout 2 ./program loop", "timeout 100 ./program", status=1,
                          WORKLOADS=str(TYTO.parent / "workloads"))
        self.assertIn("1 of 2 runs failed", done.stderr)
        self.assertIn(f"timeout 2 ./program loop on {DEFAULT} failed with status 124", done.stderr)
        self.assertEqual(self.rows("program"), [("timeout 100 ./program",)])

    def test_a_program_that_is_killed_is_begun_again(self):
        self.program('if test -e once; then exec "$WORKLOADS/vecadd" --size 100; fi; touch once; kill -9 $$')
        self.sweep("./program", WORKLOADS=str(TYTO.parent / "workloads"))
        self.assertEqual(len(self.rows()), 1)

    def test_one_that_is_killed_every_time_is_told_and_not_kept_as_a_failure(self):
        self.program("echo run >> tries; kill -9 $$")
        self.assertIn("was ended by signal 9", self.sweep("./program", status=1).stderr)
        self.assertEqual((self.path / "tries").read_text(encoding="utf-8").count("run"), 3)
        self.assertEqual(self.rows("*", "failures"), [])

    @many_runs
    def test_a_file_that_an_argument_names_is_part_of_what_decides_a_run(self):
        self.program('exec "$WORKLOADS/vecadd" --size "$(cat "$1")"')
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        for length in ("100", "1000", "100"):
            (self.path / "input").write_text(length, encoding="utf-8")
            self.sweep("./program input", **variables)
        self.assertEqual(len(self.rows()), 2)
        self.program('exec "$WORKLOADS/vecadd" --size 50 # "$1"')
        self.sweep("./program input", **variables)
        self.assertEqual(len(self.rows()), 3)

    def build(self, path, text, *options):
        (self.path / "source.c").write_text(text, encoding="utf-8")
        run_command([os.environ.get("CC", "cc"), "source.c", "-o", path, *options], cwd=self.path, check=True)

    def test_libraries_of_the_programs_own_are_part_of_what_decides_a_run(self):
        (self.path / "lib").mkdir()
        self.build("lib/libcount.so", "const char *count(void) { return \"100\"; }", "-shared", "-fPIC")
        self.build("program", "#include <unistd.h>\n#include <stdlib.h>\nconst char *count(void);\n"
                   "int main(void) { return execl(getenv(\"VECADD\"), \"vecadd\", \"--size\", count(), NULL); }",
                   "-Llib", "-lcount", "-Wl,-rpath,$ORIGIN/lib")
        variables = {"VECADD": str(TYTO.parent / "workloads" / "vecadd")}
        counts = []
        for length in (100, 1000, 1000, 100):
            self.build("lib/libcount.so", f"const char *count(void) {{ return \"{length}\"; }}", "-shared", "-fPIC")
            table = self.sweep("./program", "--metrics", "thread_instructions", **variables).stdout
            counts.append((re.search(r"thread_instructions\n.*\n.*?(\S+)\n", table).group(1), "stored earlier" in table))
        self.assertNotEqual(counts[0][0], counts[1][0])
        self.assertEqual(counts[1][0], counts[2][0])
        self.assertEqual(counts[0][0], counts[3][0])
        self.assertEqual([kept for _, kept in counts], [False, False, True, True])

    def test_files_and_variables_that_the_sweep_names_decide_a_run(self):
        self.program('exec "$WORKLOADS/vecadd" --size "$(cat inside)"')
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        for length in ("100", "1000", "100"):
            (self.path / "inside").write_text(length, encoding="utf-8")
            self.sweep("./program", "--input", "inside", **variables)
        self.assertEqual(len(self.rows()), 2)
        for value in ("1", "2", "1"):
            done = self.sweep("./program", "--input", "inside", "--variable", "MODE", "--variable", "LEVEL", MODE=value, **variables)
        self.assertEqual(len(self.rows()), 4)
        self.assertTrue(done.stdout.endswith(
            "\n1 run was stored earlier; assumed unchanged: files that programs read but that are not named by their arguments or --input, "
            "the system's libraries, the environment except MODE, LEVEL\n"), done.stdout)
        (self.path / "sweep.yaml").write_text("programs: [./program]\ninputs: inside\nvariables: [MODE, LEVEL]\n", encoding="utf-8")
        self.sweep("sweep.yaml", MODE="2", **variables)
        self.assertEqual(len(self.rows()), 4)
        self.assertIn("cannot read nowhere", self.sweep("./program", "--input", "nowhere", status=2, **variables).stderr)

    @many_runs
    def test_a_row_that_was_changed_is_told_and_made_again(self):
        self.sweep("vecadd", "--sizes", "test")
        before = self.rows()
        words = ("vecadd", "--sizes", "test")
        for change in ("result = json_set(result, '$.total.cycles', 9280)", "checksum = ''"):
            with self.subTest(change):
                with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
                    database.execute(f"UPDATE runs SET {change}")
                database.close()
                done = self.sweep(*words, "--stored", status=1)
                self.assertRegex(done.stderr, f"^tyto: warning: tyto-runs.sqlite: the stored run of vecadd on {DEFAULT} was changed or is damaged, and counts as "
                                              "missing\n")
                self.assertIn("1 of 1 runs are missing", done.stderr)
                self.sweep(*words)
                self.assertEqual(self.sweep(*words).stderr, "")
                self.assertEqual(self.rows(), before)

    def test_a_full_disk_loses_nothing_that_is_kept(self):
        words = ("vecadd", *GRID)
        self.sweep("vecadd", *GRID[:2], *GRID[-2:], "--schedulers", "lrr", "--sizes", "test")
        before = self.rows()
        limited = run_command(["sh", "-c", f'ulimit -f 60; exec "$0" sweep {" ".join(words)}', TYTO], env=self.environment,
                                 cwd=self.path, capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertNotEqual(limited.returncode, 0)
        self.assertIn("tyto: error:", limited.stderr)
        self.assertEqual([row for row in before if row not in self.rows()], [])
        self.sweep(*words)
        self.assertEqual(len(self.rows()), 9)


    # of some megabytes: a sweep's own database is smaller
    LARGE = ("spmv", "--sizes", "test", "--profile", "--sample", "10")

    def test_a_result_that_cannot_be_written_is_no_failure_of_the_program(self):
        limited = run_command(["sh", "-c", f'ulimit -f 200; exec "$0" sweep {" ".join(self.LARGE)}', TYTO], env=self.environment,
                                 cwd=self.path, capture_output=True, text=True, check=False, timeout=SECONDS)
        self.assertEqual(limited.returncode, 1)
        self.assertRegex(limited.stderr, r"could not write its result:\nspmv: .*\ntyto: .*json: error: cannot be written: File too large\n"
                                         r"1 of 1 runs are missing\n$")
        self.assertEqual(self.rows("*", "failures"), [])
        self.sweep(*self.LARGE)
        self.assertEqual(len(self.rows()), 1)

    def test_a_program_that_ends_by_that_status_has_failed_where_its_result_is_there(self):
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        self.program('"$WORKLOADS/vecadd" --size 100; exit 75')
        self.sweep("./program", status=1, **variables)
        self.assertEqual(self.rows("reason", "failures"), [("failed with status 75",)])
        self.program("exit 75", "other")
        self.assertIn(f"./other on {DEFAULT} could not write its result\n1 of 1 runs are missing\n", self.sweep("./other", status=1).stderr)
        self.program("exit 0", "third")
        self.assertIn(f"./third on {DEFAULT} left no statistics: did the program launch a kernel?\n", self.sweep("./third", status=1).stderr)
        self.assertEqual(len(self.rows("*", "failures")), 2)

    def small_disk(self, options):
        if os.geteuid() or run_command(["mount", "-t", "tmpfs", "-o", options, "none", self.path / "tmp"],
                                          capture_output=True, check=False).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.path / "tmp"], check=False, capture_output=True)

    def test_a_full_temporary_disk_is_no_failure_of_any_program(self):
        self.program('head -c 9M /dev/zero >"$TMPDIR/fill" 2>/dev/null; exit 3')
        for options, words, message in (("size=48k", self.LARGE, "could not write its result:\n"),
                                        ("size=1m,nr_inodes=2", ("vecadd", "--sizes", "test"), "could not write its result\n"),
                                        ("size=1m,nr_inodes=3", ("vecadd", "--sizes", "300"), "failed with status 1 on a full disk:\n"),
                                        ("size=1m", ("./program",), f"./program on {DEFAULT} failed with status 3 on a full disk\n")):
            with self.subTest(options):
                self.small_disk(options)
                done = self.tyto("sweep", *words)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)
                self.assertIn("1 of 1 runs are missing\n", done.stderr)
                self.assertEqual(self.rows("*", "failures"), [])
                run_command(["umount", self.path / "tmp"], check=True)
                self.tyto("sweep", *words)
        self.assertEqual(len(self.rows()), 3)
        self.assertEqual(self.rows("program, reason", "failures"), [("./program", "failed with status 3")])


class Watching(Case):
    def test_another_terminal_sees_the_state(self):
        words = ("spmv", "vecadd", *GRID)
        self.assertEqual(self.sweep(*words, "--stored", status=1).stderr, "tyto: note: there is no database tyto-runs.sqlite\n18 of 18 runs are missing\n")
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())
        self.sweep("vecadd", "--sizes", "300")  # a run of another sweep, which does not count for this one
        with subprocess.Popen([TYTO, "sweep", *words, "--watch"], cwd=self.path, env=self.environment, text=True,
                              stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "0 of 18 runs done\n")
            self.sweep(*words)
            rest, _ = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(rest.splitlines()[-1], r"^18 of 18 runs done, the last \d+ s ago$")

    def test_whoever_watches_hears_of_failures_by_the_status(self):
        self.program("exit 3")
        self.sweep("./program", "vecadd", "--sizes", "test", status=1)
        done = self.sweep("./program", "vecadd", "--sizes", "test", "--watch", status=1)
        self.assertRegex(done.stdout, r"^1 of 2 runs done, 1 failed, the last \d+ s ago\n$")
        self.assertEqual(self.sweep("vecadd", "--sizes", "test", "--watch").returncode, 0)

    def test_an_older_database_is_taken_over(self):
        connection = sqlite3.connect(self.path / "tyto-runs.sqlite")
        connection.executescript(
            "CREATE TABLE runs (program TEXT NOT NULL, size TEXT NOT NULL, machine TEXT NOT NULL, overrides TEXT NOT NULL,"
            "  scheduler TEXT NOT NULL, cta_scheduler TEXT NOT NULL, version TEXT NOT NULL,"
            "  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, result TEXT NOT NULL CHECK (json_valid(result)),"
            "  PRIMARY KEY (program, size, machine, overrides, scheduler, cta_scheduler, version));"
            "PRAGMA user_version = 1; PRAGMA application_id = 1417245807;"
            "INSERT INTO runs VALUES ('old', 'test', 'owl', '', 'lrr', '', '0.1.0-x', '2020-01-01 00:00:00', '{}');")
        connection.close()
        self.sweep("vecadd", "--sizes", "test")
        self.assertEqual(self.rows("program, seed, options, finished", "runs WHERE program = 'old'"),
                         [("old", "", "", "2020-01-01 00:00:00")])
        self.assertEqual(len(self.rows()), 2)

    def test_a_database_without_checksums_gets_them(self):
        self.sweep("vecadd", "--sizes", "test")
        before = self.rows("*", "runs")
        with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
            database.executescript("ALTER TABLE runs DROP COLUMN checksum; PRAGMA user_version = 2;")
        database.close()
        self.assertEqual(self.sweep("vecadd", "--sizes", "test", "--stored").stderr, "")
        self.assertEqual(self.rows("*", "runs"), before)

    def test_an_interrupt_keeps_what_has_finished(self):
        process = subprocess.Popen([TYTO, "sweep", "lud", "--sizes", "test", "--seeds", "1..30", "--jobs", "1"], cwd=self.path,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3000):
            try:
                if self.rows():
                    break
            except sqlite3.Error:
                pass
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("interrupted; finished runs are stored", said)
        self.assertGreater(len(self.rows()), 0)
        self.assertEqual(os.listdir(self.path / "tmp"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
