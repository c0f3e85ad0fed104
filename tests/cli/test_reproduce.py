#!/usr/bin/env python3
"""tyto reproduce: the experiments that come with it, and its runs, database, tables and mistakes.

usage: test_reproduce.py TYTO ROOT
"""
import collections
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
from tyto_runs import hear_signals  # noqa: E402 (found by the line above)

hear_signals()
TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "experiments").glob("*.yaml"))}
LATER = [one for one, text in TEXTS.items() if re.search(r"(?m)^group: later$", text)]
IDS = [one for one in TEXTS if one not in LATER]  # of the four papers

SMALL = """
id: mine
paper: OURS
title: two programs, three schedulers
place: here
machine: owl
absent: [X]
programs:
  - {label: A, run: vecadd}
  - {label: B, run: [spmv, --rows, 500]}
setups:
  - {name: rr, scheduler: lrr}
  - {name: fast, scheduler: lrr, set: [oracle.perfect_l1=true]}
  - {name: best, scheduler: ['swl:limit=1', 'swl:limit=8', lrr]}
columns:
  - {label: GAIN, metric: ipc, setup: fast, over: rr, form: change, threshold: 5000}
  - {label: MISSES, metric: l1d_misses, per: l1d_accesses, setup: rr, form: percent}
  - {label: BEST, metric: cycles, setup: rr, over: best, form: ratio}
means:
  - {label: HMEAN, kind: harmonic}
  - {label: FIRST, kind: arithmetic, of: [A]}
published:
  - {column: GAIN, place: section 9, values: {A: 6000, B: 0}}
  - {column: BEST, place: section 9, examined: the input is smaller, headline: HMEAN,
     values: {A: 99, HMEAN: 0.25}}
"""
RUNS_OF_SMALL = 2 * 4  # lrr in the setup `best` is the same run as `rr`
RUNS_OF_LONG = 2 * (12 + 2)  # limits; lrr and the perfect L1


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "tmp").mkdir()
        self.environment = {**PLAIN, "TMPDIR": str(self.path / "tmp")}

    def tyto(self, *words, **variables):
        return subprocess.run([TYTO, *map(str, words)], capture_output=True, text=True, check=False,
                              cwd=self.path, env={**self.environment, **variables}, timeout=170)

    def write(self, text, name="mine.yaml"):
        (self.path / name).write_text(text, encoding="utf-8")
        return name

    def reproduce(self, text=SMALL, *words, **variables):
        return self.tyto("reproduce", self.write(text), "--size", "test", *words, **variables)

    def rows(self, what="rowid, finished, scheduler"):
        with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
            return database.execute(f"SELECT {what} FROM runs ORDER BY rowid").fetchall()

    def check(self, done, status, *parts):
        self.assertEqual(done.returncode, status, f"{done.stdout}{done.stderr}")
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertNotIn("Sanitizer", done.stderr)
        self.assertEqual(os.listdir(self.path / "tmp"), [])  # no temporary file is left


class Shipped(Case):
    def test_list_has_every_file_under_its_id(self):
        listing = self.tyto("reproduce", "list")
        self.check(listing, 0)
        self.assertEqual([line.split()[0] for line in listing.stdout.splitlines()], [*IDS, *LATER])

    def test_every_experiment_is_valid_and_the_page_of_claims_has_every_claim(self):
        """Programs, setups, columns, machines and schedulers are checked before anything runs. docs/reproduction.md
        matches the present experiments."""
        done = self.tyto("reproduce", "all", "--stored", "--size", "paper", "--csv", "all.csv", "--markdown", "page.md")
        self.check(done, 1)  # because runs are missing
        self.assertEqual(set(done.stderr.splitlines()), {"tyto: note: there is no database tyto-runs.sqlite"})
        with open(self.path / "all.csv", encoding="utf-8") as file:
            self.assertEqual(sorted({row["experiment"] for row in csv.DictReader(file)}), IDS)
        made = (self.path / "page.md").read_text(encoding="utf-8")
        kept = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")

        def claims(page):
            return [line.split(" | ")[:4] for section in page.split("\n## ")[3:] for line in section.splitlines()
                    if line == section.split("\n")[0] or ("| claim about |" in section and line.startswith("| "))]

        def beginning(page):
            return page[:page.index("| distinct claims |")]
        self.assertGreater(len(claims(made)), 500)
        self.assertEqual(claims(kept), claims(made))
        self.assertEqual(beginning(kept), beginning(made))
        self.assertEqual([page.endswith(" |\n") for page in (kept, made)], [True, True])
        self.assertIn("The paper's text has no numbers for this figure.\n", made)
        self.assertIn("The paper's text has no numbers for this figure. Ours:\n\n| of |", kept)

    def test_later_experiments_are_valid_and_their_page_has_every_claim(self):
        done = self.tyto("reproduce", "later", "--stored", "--size", "paper", "--csv", "later.csv", "--markdown", "page.md")
        self.check(done, 1)  # because runs are missing
        self.assertEqual(set(done.stderr.splitlines()), {"tyto: note: there is no database tyto-runs.sqlite"})
        with open(self.path / "later.csv", encoding="utf-8") as file:
            self.assertEqual(sorted({row["experiment"] for row in csv.DictReader(file)}), LATER)
        made = (self.path / "page.md").read_text(encoding="utf-8")
        kept = (ROOT / "docs" / "reproduction-later.md").read_text(encoding="utf-8")

        def told(page):
            """The beginning, the headings, and each row's cells that do not depend on our numbers."""
            beginning, verdicts, *sections = page.split("\n## ")
            headlines = [line.split(" | ")[:4] + line.split(" | ")[6:] for line in verdicts.splitlines() if line.startswith("| `")]
            claims = [line.split(" | ")[:4] for section in sections for line in re.sub(r"(?s)\nOurs:.*", "", section).splitlines()
                      if line == section.split("\n")[0] or ("| claim about |" in section and line.startswith("| "))]
            return beginning, headlines, claims
        self.assertEqual(len(told(made)[1]) >= len(LATER), True)
        self.assertEqual(told(kept), told(made))

    def test_the_page_of_claims_counts_its_rows(self):
        page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
        told, *sections = page.split("\n## ")[1:]
        counted = collections.Counter()

        def count(paper, tally, verdict):
            counted[paper, tally, verdict] += 1
            counted["all", tally, verdict] += 1
        for section in sections[1:]:  # after the headlines
            paper = section.split(",")[0]
            as_one = re.search(r"as one claim\. .*: (\w+)\.", section)
            if as_one:
                count(paper, "distinct", as_one[1])
                continue
            for row in (row[1:-1].split(" | ") for row in section.splitlines()
                        if row.startswith("| ") and "| claim about |" in section):
                _, _, _, published, _, verdict, why = (cell.strip() for cell in row)
                outside = re.match("counted in|derived from|fitted:", why)
                if verdict == "verdict":
                    continue
                count(paper, outside[0] if outside else "distinct", verdict)
                if not outside and published.startswith("at "):
                    count(paper, "one-sided", verdict)
        self.assertGreater(counted["all", "distinct", "agrees"], 100)
        self.assertGreater(counted["all", "fitted:", "agrees"], 10)

        def check(row, paper, tally):
            counts = [int(cell.split()[0]) for cell in row.strip("|").split("|")[1:]]
            self.assertEqual(counts[1:], [counted[paper, tally, one] for one in ("agrees", "direction", "differs", "not run")], row)
            self.assertEqual(counts[0], sum(counts[1:]), row)
            for count, cell in zip(counts[1:], row.strip("|").split("|")[2:]):
                self.assertEqual(cell.strip(), f"{count} ({100 * count / counts[0]:.1f}%)" if count else "0")
        distinct, effects, outside = (part.split("\n\n")[0].splitlines()[2:] for part in re.split(
            r"\| (?:paper|effects of|not in a tally) \|", told)[1:])
        for row in distinct:
            check(row, row.split()[1], "distinct")
        for row in outside:
            paper, *cells = (cell.strip() for cell in row.strip("|").split("|"))
            for cell, reason in zip(cells, ("counted in", "derived from", "fitted:")):
                verdicts = {key[2]: count for key, count in counted.items() if key[:2] == (paper, reason)}
                number = sum(verdicts.values())
                self.assertEqual(cell, f"{number}, {verdicts.get('agrees', 0)} agree" if number else "0", row)
        check(re.search(r"\| distinct claims \|.*", told)[0], "all", "distinct")
        check(re.search(r"\| one-sided \|.*", told)[0], "all", "one-sided")
        self.assertEqual([row.split("|")[1].strip() for row in effects], [row.split("|")[1].strip() for row in distinct])

    def test_every_metric_exists(self):
        """One program of each experiment is enough to check the counters that it uses."""
        self.tyto("run", "--quiet", "--machine", "owl", "--json", "run.json", "--record-l1d", "run.l1d",
                  "vecadd", "--size", "test")
        total = json.loads((self.path / "run.json").read_text(encoding="utf-8"))["total"]
        self.tyto("cache", "run.l1d", "--json", "replay.json")
        replay = json.loads((self.path / "replay.json").read_text(encoding="utf-8"))
        text = "".join(TEXTS.values())
        words = set()
        for key in ("metric", "over_metric", "per"):
            for part in text.split(f" {key}: ")[1:]:
                words.update(part[1:part.index("]")].replace(",", " ").split() if part[0] == "["
                             else [part.split(",")[0]])
        recorded = {tuple(word.split(".")) for word in words if "." in word}
        words = {word for word in words if "." not in word}
        self.assertGreater(len(words), 15)
        self.assertEqual(words - set(total), set())
        replayed = {name for record, name in recorded if record in ("lru", "belady", "unbounded")}
        self.assertGreater(len(replayed), 1)
        self.assertEqual(replayed - set(replay), set())

    def test_an_experiment_from_end_to_end(self):
        done = self.tyto("reproduce", "md-figure-19", "--size", "test", "--csv", "t.csv", "--plot", "t.svg")
        self.check(done, 0)
        self.assertIn("machine md, size test", done.stdout)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 7)
        self.assertTrue(all(row["ours"] for row in rows))

    def test_what_comes_to_no_table_replaces_no_file(self):
        for name in ("t.csv", "page.md"):
            (self.path / name).write_text("of before", encoding="utf-8")
        (self.path / "broken.yaml").write_text("id: broken\n", encoding="utf-8")
        for words in (["owl-tabel-2"], ["./broken.yaml"]):
            self.check(self.tyto("reproduce", *words, "--size", "test", "--csv", "t.csv", "--markdown", "page.md"), 2,
                       "--csv t.csv: not written")
            for name in ("t.csv", "page.md"):
                self.assertEqual((self.path / name).read_text(encoding="utf-8"), "of before")

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_a_table_is_written_though_its_picture_cannot_be(self):
        os.symlink("/dev/full", self.path / "full.svg")
        done = self.tyto("reproduce", "md-figure-19", "--stored", "--size", "test", "--csv", "t.csv", "--plot", "full.svg")
        self.check(done, 1, "full.svg")
        self.assertNotIn("not written", done.stderr)
        self.assertEqual(len((self.path / "t.csv").read_text(encoding="utf-8").splitlines()), 1 + 2 * 7)

    def test_an_unknown_id_gets_the_nearest(self):
        self.check(self.tyto("reproduce", "owl-tabel-2"), 2, "did you mean 'owl-table-2'?")
        self.check(self.tyto("reproduce", "quux-quux-quux"), 2, "tyto reproduce list shows them all")


class Table(Case):
    def ours(self, *words):
        self.check(self.reproduce(SMALL, "--csv", "t.csv", *words), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            return {(row["row"], row["column"]): row for row in csv.DictReader(file)}

    def total(self, *words):
        self.tyto("run", "--quiet", "--machine", "owl", "--json", "run.json", *words)
        return json.loads((self.path / "run.json").read_text(encoding="utf-8"))["total"]

    def test_values_are_those_of_the_runs(self):
        table = self.ours()
        words = ("spmv", "--size", "test", "--rows", "500")
        slow = self.total(*words)
        fast = self.total("--set", "oracle.perfect_l1=true", *words)
        cycles = [self.total("--scheduler", f"swl:limit={n}", *words)["cycles"] for n in (1, 8)]
        value = {column: float(table["B", column]["ours"]) for column in ("GAIN", "MISSES", "BEST")}
        self.assertAlmostEqual(value["GAIN"], 100 * fast["ipc"] / slow["ipc"] - 100, places=4)
        self.assertAlmostEqual(value["MISSES"], 100 * slow["l1d_misses"] / slow["l1d_accesses"], places=4)
        self.assertAlmostEqual(value["BEST"], slow["cycles"] / min(*cycles, slow["cycles"]), places=6)

    def test_means_are_of_ratios(self):
        table = self.ours()
        gains = [1 + float(table[row, "GAIN"]["ours"]) / 100 for row in "AB"]
        self.assertAlmostEqual(float(table["HMEAN", "GAIN"]["ours"]),
                               100 * statistics.harmonic_mean(gains) - 100, places=4)
        self.assertEqual(table["FIRST", "GAIN"]["ours"], table["A", "GAIN"]["ours"])

    def test_verdicts(self):
        table = self.ours("--markdown", "page.md")
        verdicts = {key: row["verdict"] for key, row in table.items() if row["published"]}
        self.assertEqual(verdicts, {("A", "GAIN"): "differs",  # far below 6000
                                    ("B", "GAIN"): "differs",  # a gain where the claim is that there is none
                                    ("A", "BEST"): "differs", ("HMEAN", "BEST"): "differs"})
        page = (self.path / "page.md").read_text(encoding="utf-8")
        self.assertRegex(page, r"(?m)^\| BEST \| HMEAN \| section 9 \| 0.25x \| 1.\d\dx \| differs \| "
                               r"the input is smaller \|$")
        self.assertIn("| OURS | 4 | 0 | 0 | 4 (100.0%) | 0 |\n", page)
        self.assertIn("| effects | 3 | 0 | 0 | 3 (100.0%) | 0 |\n", page)  # one claim is that nothing changes
        self.assertIn("| absolute values, within 25% | 0 | 0 | 0 | 0 | 0 |\n| one-sided | 0 | 0 | 0 | 0 | 0 |\n", page)
        self.assertRegex(page, r"## Headlines\n\n.*\n\n.*\n.*\n\| OURS here \| .*: BEST, HMEAN \| 0.25x "
                               r"\| 1.\d\dx \| differs \| .*\|\n\n")

    def test_the_page_of_later_experiments_begins_with_verdicts(self):
        later = SMALL.replace("id: mine", "id: mine\ngroup: later")
        self.check(self.reproduce(later, "--markdown", "page.md"), 0)
        page = (self.path / "page.md").read_text(encoding="utf-8")
        self.assertRegex(page, r"(?m)^\| `lrr` \| OURS \| two programs, three schedulers: BEST, HMEAN \| 0.25x \| 1.\d\dx "
                               r"\| differs \| `owl` \| A, B \|$")
        self.assertIn("| published numbers | 4 | 0 | 0 | 4 (100.0%) | 0 |\n", page)
        self.assertRegex(page, r"\nOurs:\n\n\| of \| GAIN \| MISSES \| BEST \|\n\|---\|---\|---\|---\|\n\| A \|")
        self.assertNotIn("by paper", page)
        silent = later[:later.index("published:")]
        self.check(self.reproduce(silent, "--markdown", "page.md"), 0)
        page = (self.path / "page.md").read_text(encoding="utf-8")
        self.assertRegex(page, r"(?m)^\| `lrr` \| OURS \| .*: GAIN, HMEAN \|  \| \+[\d.]+% \|  \| `owl` \| A, B \|$")
        self.assertIn("none could be verified. Ours:\n\n| of |", page)

    def test_a_headline_is_one_of_the_claims(self):
        self.check(self.reproduce(SMALL.replace("headline: HMEAN", "headline: B")), 2, "value of row 'B'")

    def test_verdicts_follow_the_size_of_the_claim(self):
        gain = float(self.ours()["B", "GAIN"]["ours"])
        self.assertGreater(gain, 10)
        for times, verdict in ((0.7, "agrees"), (1.9, "agrees"), (2.1, "direction"), (2.9, "direction"),
                               (3.1, "differs"), (-0.1, "differs")):
            text = SMALL.replace(", threshold: 5000", "").replace("B: 0}", f"B: {times * gain}}}")
            self.check(self.reproduce(text, "--csv", "-"), 0)
            self.assertRegex(self.reproduce(text, "--csv", "-").stdout,
                             rf'(?m)^mine,test,"B","GAIN",[^,]+,[^,]+,{verdict},', str(times))

    def verdicts_on_b(self, value, *fields):
        """The verdicts on claims about B's gain, one for each text of further fields."""
        for field in fields:
            text = SMALL.replace("place: section 9, values: {A: 6000, B: 0}",
                                 f"place: section 9{field}, values: {{B: {value}}}")
            self.assertNotEqual(text, SMALL)
            printed = self.reproduce(text, "--csv", "-").stdout
            yield next(csv.DictReader(line for line in printed.splitlines()
                                      if line.startswith(("experiment,", 'mine,test,"B","GAIN"'))))["verdict"]

    def test_a_bound_holds_on_its_side_alone(self):
        self.assertEqual(list(self.verdicts_on_b(0, "", ", bound: least", ", bound: most")),
                         ["differs", "agrees", "differs"])
        self.assertEqual(list(self.verdicts_on_b(9000, "", ", bound: least", ", bound: most")),
                         ["differs", "differs", "agrees"])

    def test_a_least_may_have_a_most(self):
        gain = float(self.ours()["B", "GAIN"]["ours"])
        self.assertEqual(list(self.verdicts_on_b(0, f", bound: least, most: {gain + 1}", f", bound: least, most: {gain - 1}")),
                         ["agrees", "differs"])
        for bound in (", bound: most", ""):
            text = SMALL.replace("place: section 9, values: {A", f"place: section 9{bound}, most: 5, values: {{A")
            self.check(self.reproduce(text), 2, "mine.yaml:23:14: error: 'most' needs 'bound: least'")

    def test_verdicts_go_by_the_digits_that_are_printed(self):
        gain = float(self.ours()["B", "GAIN"]["ours"])
        shown = round(gain, 1)
        self.assertNotEqual(gain, shown)
        beyond = shown + (0.04 if gain < shown else -0.04)  # prints like our value, which does not reach it
        self.assertEqual(list(self.verdicts_on_b(beyond, ", bound: least", ", bound: most")), ["agrees", "agrees"])

    def test_counts_of_programs(self):
        text = SMALL.replace("  - {label: FIRST,", "  - {label: UP, kind: above, than: 0}\n  - {label: DOWN, kind: below, than: 0}\n"
                             "  - {label: LEAST, kind: smallest}\n  - {label: FIRST,").replace(
            "B: 0}}", "B: 0}}\n  - {column: MISSES, place: here, values: {UP: 2, DOWN: 1}}")
        self.check(self.reproduce(text, "--csv", "t.csv", "--markdown", "page.md"), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            table = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
        self.assertEqual([table[row, "MISSES"]["ours"] for row in ("UP", "DOWN")], ["2", "0"])
        self.assertEqual(table["LEAST", "GAIN"]["ours"], min((table[row, "GAIN"]["ours"] for row in "AB"), key=float))
        page = (self.path / "page.md").read_text(encoding="utf-8")
        self.assertIn("| MISSES | UP | here | 2 | 2 | agrees |  |\n", page)
        self.assertIn("| absolute values, within 25% | 2 | 1 (50.0%) | 0 | 1 (50.0%) | 0 |\n", page)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_counts_are_not_drawn(self):
        text = SMALL.replace("  - {label: FIRST,", "  - {label: UP, kind: above, than: 0}\n  - {label: FIRST,")
        self.check(self.reproduce(text, "--plot", "t.svg"), 0)
        picture = (self.path / "t.svg").read_text(encoding="utf-8")
        self.assertIn("FIRST", picture)
        self.assertNotIn("UP<", picture)

    def test_what_is_derived_or_fitted_is_outside(self):
        for field, word in (("derived: other numbers", "derived from other numbers"), ("fitted: a grid", "fitted: a grid")):
            page = self.page(SMALL.replace("place: section 9, values: {A", f"place: section 9, {field}, values: {{A"))
            self.assertIn("| OURS | 2 | 0 | 0 | 2 (100.0%) | 0 |\n", page)
            self.assertIn("| OURS | 0 | 2, 0 agree | 0 |\n" if field[0] == "d" else "| OURS | 0 | 0 | 2, 0 agree |\n", page)
            self.assertRegex(page, rf"(?m)^\| GAIN \| A \| .* \| {word} +\|$")

    def test_a_side_of_a_threshold_is_no_agreement_with_a_number(self):
        gain = float(self.ours()["B", "GAIN"]["ours"])
        self.assertLess(gain, 2500)  # both below 5000
        self.assertEqual(list(self.verdicts_on_b(4999, "")), ["differs"])

    def page(self, text):
        self.check(self.reproduce(text, "--markdown", "page.md"), 0)
        return (self.path / "page.md").read_text(encoding="utf-8")

    def test_a_figure_without_numbers_shows_ours(self):
        page = self.page(SMALL[:SMALL.index("published:")])
        self.assertRegex(page, r"The paper's text has no numbers for this figure. Ours:\n\n\| of \| GAIN \| MISSES \| BEST \|\n\|---\|---\|---\|---\|\n"
                         r"\| A \| \+[\d.]+% \| \d+% \| 1\.\d\dx \|\n")

    def test_a_number_that_repeats_another_is_shown_and_not_counted(self):
        self.write(SMALL.replace("id: mine", "id: other"), "other.yaml")
        page = self.page(SMALL.replace("place: section 9, values: {A", "place: section 9, repeats: other, values: {A"))
        self.assertIn("| OURS | 2 | 0 | 0 | 2 (100.0%) | 0 |\n", page)
        self.assertRegex(page, r"(?m)^\| GAIN \| A \| section 9 \| \+6000.0% \| .* \| counted in other +\|$")

    def test_what_a_number_repeats_is_another_experiment(self):
        for name, meant in (("owl-tabel-2", "; did you mean 'owl-table-2'?"), ("other", ""), ("./mine", ""), ("mine", "")):
            text = SMALL.replace("place: section 9, values: {A", f"place: section 9, repeats: {name}, values: {{A")
            self.check(self.reproduce(text), 2, f"mine.yaml:23:47: error: there is no other experiment '{name}'{meant}\n")
        text = SMALL.replace("place: section 9, values: {A", "place: section 9, repeats: owl-table-2, values: {A")
        self.check(self.reproduce(text), 0)

    def test_the_numbers_of_one_run_are_one_claim(self):
        page = self.page(SMALL.replace("machine: owl", "machine: owl\ncount: as-one"))
        self.assertIn("| OURS | 1 | 0 | 0 | 1 (100.0%) | 0 |\n", page)
        self.assertIn("One run counts as one claim. 0 of its 4 numbers agree: differs.\n", page)

    def test_a_headline_names_the_program_that_it_rests_on(self):
        text = SMALL.replace("label: HMEAN, kind: harmonic", "label: HMEAN, kind: arithmetic")
        gains = self.ours()
        text = text.replace("{column: GAIN, place: section 9,", "{column: GAIN, place: section 9, headline: HMEAN,")
        text = text.replace("{A: 6000, B: 0}", "{A: 6000, B: 0, HMEAN: 1}")
        self.assertIn("headline: HMEAN, values: {A", text)
        shares = {row: float(gains[row, "GAIN"]["ours"]) for row in "AB"}
        low, high = sorted(shares, key=shares.get)
        row = next(line for line in self.page(text).splitlines() if ": GAIN, HMEAN" in line)
        if shares[low] < sum(shares.values()) / 4:  # the rest is less than half of the mean
            self.assertTrue(row.endswith(f"| {high}: {shares[low]:+.1f}% without it |"), row)
        else:
            self.assertTrue(row.endswith("|  |"), row)

    def test_a_parameter_is_that_of_the_scheduler_taken(self):
        limit = "  - {label: LIMIT, metric: scheduler.limit, setup: %s, form: number}\nmeans:"
        words = ("spmv", "--size", "test", "--rows", "500")
        cycles = {n: self.total("--scheduler", f"swl:limit={n}", *words)["cycles"] for n in (1, 8)}
        best = float(min(cycles, key=cycles.get))
        cycles["lrr"] = self.total(*words)["cycles"]
        is_lrr = min(cycles, key=cycles.get) == "lrr"  # lrr has no limit
        for text, ours in ((SMALL.replace(", lrr]", "]"), best), (SMALL, None if is_lrr else best)):
            self.check(self.reproduce(text.replace("means:", limit % "best"), "--csv", "t.csv"), 0)
            with open(self.path / "t.csv", encoding="utf-8") as file:
                cell = [row["ours"] for row in csv.DictReader(file) if (row["row"], row["column"]) == ("B", "LIMIT")]
            self.assertEqual([float(one) if one else None for one in cell], [ours])

    def test_a_parameter_that_no_scheduler_of_the_setup_has_is_refused(self):
        for scheduler, parameter in (("lrr", "limit"), ("swl", "limit"), ("swl:limit=4", "lim"), ("swl:limit=4", "imit"),
                                     ("two-level:inner=gto,group=2", "inner"), ("swl:limit=4", "")):
            text = SMALL.replace("scheduler: lrr}", f"scheduler: '{scheduler}'}}", 1).replace(
                "means:", f"  - {{label: LIMIT, metric: scheduler.{parameter}, setup: rr, form: number}}\nmeans:")
            self.check(self.reproduce(text), 2, f"mine.yaml:19:28: error: no scheduler of setup 'rr' sets a number for 'scheduler.{parameter}'")

    def test_a_metric_is_found_by_its_former_name(self):
        latency = "  - {label: LATENCY, metric: %s, setup: rr, form: number}\nmeans:"
        tables = []
        for name in ("fetch_latency", "load_latency"):
            self.check(self.reproduce(SMALL.replace("means:", latency % name), "--csv", "t.csv"), 0)
            with open(self.path / "t.csv", encoding="utf-8") as file:
                tables.append([row["ours"] for row in csv.DictReader(file) if row["column"] == "LATENCY"])
        self.assertEqual(*tables)
        self.assertTrue(all(float(cell) > 0 for cell in tables[0][:2]), tables)

    def test_the_best_case_is_the_largest(self):
        self.check(self.reproduce(SMALL.replace("kind: harmonic", "kind: largest"), "--csv", "t.csv"), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            rows = {row["row"]: row["ours"] for row in csv.DictReader(file) if row["column"] == "GAIN"}
        self.assertEqual(float(rows["HMEAN"]), max(float(rows["A"]), float(rows["B"])))

    def test_a_mean_of_values_needs_nothing_to_start_from(self):
        hits = "  - {label: HITS, metric: l1d_hits, setup: rr, over: none, form: ratio}\nmeans:"
        none = "  - {name: none, scheduler: lrr, set: [l1d.size=512B, l1d.ways=1]}\ncolumns:"
        text = SMALL.replace("kind: harmonic", "kind: of-values").replace("means:", hits).replace("columns:", none)
        self.check(self.reproduce(text, "--csv", "t.csv"), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            ours = {row["row"]: row["ours"] for row in csv.DictReader(file) if row["column"] == "HITS"}
        programs = (("vecadd", "--size", "test"), ("spmv", "--size", "test", "--rows", "500"))
        small = ("--set", "l1d.size=512B", "--set", "l1d.ways=1")
        hits = [[self.total(*words, *program)["l1d_hits"] for program in programs] for words in ((), small)]
        self.assertEqual(hits[1][0], 0)
        self.assertEqual(ours["A"], "")
        self.assertAlmostEqual(float(ours["HMEAN"]), sum(hits[0]) / sum(hits[1]), places=6)

    def test_text(self):
        text = self.reproduce().stdout
        self.assertIn("GAIN: 0 of 2 published numbers agree, 2 differ\n", text)
        self.assertIn("GAIN: 1 of 2 programs on the paper's side of 5000\n", text)
        self.assertIn("not among our workloads: X\n", text)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_plot(self):
        self.check(self.reproduce(SMALL, "--plot", "it's.svg"), 0)
        picture = (self.path / "it's.svg").read_text(encoding="utf-8")
        self.assertIn("GAIN", picture)
        self.assertTrue(picture.rstrip().endswith("</svg>"))
        self.check(self.reproduce(SMALL, "--plot", "t.pdf"), 0)
        self.assertTrue((self.path / "t.pdf").read_bytes().startswith(b"%PDF-"))
        self.check(self.reproduce(SMALL, "--plot", "no/such/folder.svg"), 2, "--plot no/such/folder.svg: cannot be written")

    def picture(self, text, *words):
        self.check(self.reproduce(text, "--plot", "t.svg", *words), 0)
        return (self.path / "t.svg").read_text(encoding="utf-8")

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_a_figure_has_the_columns_that_compare_and_what_was_published(self):
        picture = self.picture(SMALL)
        for text in ("GAIN", "published", "ipc over rr, change (%)", "paper +6000.0%",  # truncated, with a note that says so
                     "machine owl, size test; published numbers are of size paper"):
            self.assertIn(text, picture)
        for text in ("MISSES", "BEST"):
            self.assertNotIn(text, picture)
        bare = self.picture(SMALL[:SMALL.index("published:")])
        for text in ("published", "paper +"):
            self.assertNotIn(text, bare)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_a_wide_table_makes_no_wider_a_figure_than_a_page_takes(self):
        self.tyto("reproduce", "owl-figure-7", "--stored", "--size", "paper", "--plot", "t.svg")
        picture = (self.path / "t.svg").read_text(encoding="utf-8")
        self.assertLessEqual(int(picture.split('width="')[1].split('"')[0]), 1600)

    def test_a_gnuplot_that_fails_is_told(self):
        (self.path / "gnuplot").write_text("#!/bin/sh\ncat > /dev/null\nexit 1\n", encoding="utf-8")
        (self.path / "gnuplot").chmod(0o755)
        self.check(self.reproduce(SMALL, "--plot", "t.svg", PATH=f"{self.path}:{os.environ['PATH']}"), 1,
                   "gnuplot could not draw t.svg")

    def test_without_gnuplot_there_is_a_table_and_no_plot(self):
        done = self.reproduce(SMALL, "--plot", "t.svg", PATH=str(self.path))
        self.check(done, 0, "no plot: gnuplot is not installed")
        self.assertFalse((self.path / "t.svg").exists())


DEGREES = """
id: mine
paper: OURS
title: rows that are degrees
place: here
machine: pro
plot: lines
programs:
  - {label: one, cta_scheduler: 'limit:ctas=1'}
  - {label: two, cta_scheduler: 'limit:ctas=2', registers: 40}
setups:
  - {name: add, run: [vecadd, --block, 64], scheduler: lrr}
columns:
  - {label: CYCLES, metric: cycles, setup: add, form: number}
  - {label: FIRST, metric: cycles, setup: add, over_row: first, form: ratio}
  - {label: GROWTH, metric: cycles, setup: add, over_row: previous, form: ratio}
"""

RECORD = """
id: mine
paper: OURS
title: when thread blocks ran
place: here
machine: pro
plot: spans
programs:
  - {label: 0, run: vecadd, at_paper: [--elements, 65536], item: 1}
  - {label: 99, run: vecadd, at_paper: [--elements, 65536], item: 100}
setups:
  - {name: pro, scheduler: pro, record: ctas, set: gpu.sms=2}
columns:
  - {label: FROM, metric: ctas.start, setup: pro, form: number}
  - {label: SPAN, metric: ctas.end, setup: pro, form: number, from: FROM}
  - {label: PLACE, metric: order.1, setup: pro, form: index}
published:
  - {column: PLACE, place: there, values: {0: 1}}
"""


REPLAYS = SMALL.replace("name: rr, scheduler: lrr}", "name: rr, scheduler: lrr, record: belady}").replace(
    "metric: l1d_misses, per: l1d_accesses, setup: rr, form: percent",
    "metric: belady.misses, setup: rr, over: free, over_metric: unbounded.misses, form: ratio").replace(
        "columns:", "  - {name: free, scheduler: gto, record: unbounded}\ncolumns:")


class Replays(Case):
    def test_values_are_those_of_tyto_cache(self):
        self.check(self.reproduce(REPLAYS, "--csv", "t.csv", "--jobs", "2"), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            ours = {row["row"]: row["ours"] for row in csv.DictReader(file) if row["column"] == "MISSES"}
        misses = []
        for scheduler, policy in (("lrr", ("--policy", "belady")), ("gto", ("--unbounded",))):
            self.tyto("run", "--quiet", "--machine", "owl", "--scheduler", scheduler, "--record-l1d", "t.l1d",
                      "spmv", "--size", "test", "--rows", "500")
            self.check(self.tyto("cache", "t.l1d", "--json", "t.json", *policy), 0)
            misses.append(json.loads((self.path / "t.json").read_text(encoding="utf-8"))["misses"])
        self.assertAlmostEqual(float(ours["B"]), misses[0] / misses[1], places=6)

    def test_they_are_kept_with_the_run(self):
        self.check(self.reproduce(REPLAYS), 0)
        runs = self.rows()
        self.assertEqual(sorted(self.rows("overrides, scheduler"))[-2:], [("record=unbounded", "gto")] * 2)
        self.check(self.reproduce(REPLAYS), 0)
        self.assertEqual(self.rows(), runs)

    def test_mistakes(self):
        self.check(self.reproduce(REPLAYS.replace("belady}", "beladi}")), 2,
                   "not an allowed value: 'beladi'")
        self.check(self.reproduce(REPLAYS.replace("--rows, 500", "--rosw, 500")), 1,
                   " failed with status 2:\nspmv: unknown option '--rosw'", "spmv --rosw 500 --size test under swl:limit=8 on owl")

    def failures(self):
        with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
            return database.execute("SELECT reason FROM failures").fetchall()

    def test_a_recording_that_cannot_be_written_is_no_failure_of_the_program(self):
        self.write(REPLAYS.replace("--rows, 500", "--rows, 4000"))
        done = subprocess.run(["sh", "-c", 'ulimit -f 400; exec "$0" reproduce mine.yaml --size test', TYTO], cwd=self.path,
                              env=self.environment, capture_output=True, text=True, check=False, timeout=170)
        self.check(done, 1, "spmv --rows 4000 --size test under lrr on owl, record=belady could not write its result:\n", ".l1d: error: cannot be written")
        self.assertEqual(self.failures(), [])
        self.check(self.tyto("reproduce", "mine.yaml", "--size", "test"), 0)

    def test_a_replay_for_which_there_is_no_room_is_no_failure_of_the_program(self):
        self.write(REPLAYS.replace("--rows, 500", "--rows, 4000"))
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.path / "tmp"],
                                          capture_output=True, check=False).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.path / "tmp"], check=False)
        done = self.tyto("reproduce", "mine.yaml", "--size", "test", "--jobs", "1")
        self.check(done, 1, "under lrr on owl, record=belady could not write its result:\n", "the temporary file of Belady's policy cannot be written")
        self.assertEqual(self.failures(), [])


class Rows(Case):
    def ours(self, text, *words):
        self.check(self.reproduce(text, "--csv", "t.csv", *words), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            return {(row["row"], row["column"]): row["ours"] for row in csv.DictReader(file)}

    def test_rows_that_change_the_runs_of_the_setups(self):
        table = self.ours(DEGREES, "--plot", "t.svg")
        one, two = (float(table[row, "CYCLES"]) for row in ("one", "two"))
        self.assertGreater(one, two)
        self.assertEqual((table["one", "FIRST"], table["one", "GROWTH"]), ("1", ""))
        for column in ("FIRST", "GROWTH"):
            self.assertAlmostEqual(float(table["two", column]), two / one, places=6)
        self.assertEqual(sorted(self.rows("program, overrides, cta_scheduler")),
                         [("vecadd --block 64", "", "limit:ctas=1"),
                          ("vecadd --block 64", "registers=40", "limit:ctas=2")])

    def test_registers_of_a_setup_are_for_rows_without(self):
        self.ours(DEGREES.replace("scheduler: lrr}", "registers: 30, scheduler: lrr}"))
        self.assertEqual(sorted(self.rows("overrides, cta_scheduler")),
                         [("registers=30", "limit:ctas=1"), ("registers=40", "limit:ctas=2")])

    def test_a_record(self):
        table = self.ours(RECORD, "--plot", "t.svg")
        self.assertEqual(table["0", "FROM"], "0")
        self.assertGreater(float(table["0", "SPAN"]), 100)
        self.assertEqual((table["99", "FROM"], table["99", "PLACE"]), ("", ""))
        self.assertEqual(self.rows("overrides"), [("record=ctas gpu.sms=2",)])

    def test_the_papers_grid_is_for_its_size(self):
        done = self.tyto("reproduce", self.write(RECORD), "--size", "paper", "--jobs", "1")
        self.check(done, 0)
        self.assertIn("PLACE: 0 of 1 published numbers agree, 1 differ\n", done.stdout)
        self.assertEqual(self.rows("program"), [("vecadd --elements 65536",)])

    def test_what_no_setup_records_is_refused(self):
        cases = (
            (RECORD, "record: ctas, ", "", "14:27", "'ctas.start' needs 'record: ctas', which setup 'pro' lacks"),
            (RECORD, "record: ctas", "record: belady", "16:28", "'order.1' needs 'record: ctas', which setup 'pro' lacks"),
            (RECORD, "ctas.end", "ctas.ende", "15:27", "no metric 'ctas.ende'"),
            (RECORD, "order.1", "order.0", "16:28", "no metric 'order.0'"),
            (RECORD, "order.1", "order.01", "16:28", "no metric 'order.01'"),
            (RECORD, "order.1", "progress.first", "16:28", "no metric 'progress.first'"),
            (RECORD, "order.1", "disorder.1", "16:28", "no metric 'disorder.1'"),
            (RECORD, "order.1", "order", "16:28", "no metric 'order'"),
            (RECORD.replace("item: 100", "kernel: x"), ", item: 1}", "}", "14:27", "'ctas.start' needs a program with 'item', and there is none"),
            (REPLAYS, "record: belady", "record: lru", "18:29", "'belady.misses' needs 'record: belady', which setup 'rr' lacks"),
            (REPLAYS, "record: unbounded", "record: lru", "18:80", "'unbounded.misses' needs 'record: unbounded', which setup 'free' lacks"),
            (REPLAYS, "over_metric: unbounded.misses, ", "", "18:29", "'belady.misses' needs 'record: belady', which setup 'free' lacks"),
            (REPLAYS, "unbounded.misses,", "cycles, per: belady.misses,", "18:93", "'belady.misses' needs 'record: belady', which setup 'free' lacks"),
            (REPLAYS, "metric: cycles", "metric: [cycles, lru.misses]", "19:36", "'lru.misses' needs 'record: lru', which setup 'rr' lacks"),
            (REPLAYS, "belady.misses", "belady.mises", "18:29", "no metric 'belady.mises'"),
            (REPLAYS, "belady.misses", "belady.policy", "18:29", "no metric 'belady.policy'"),  # it is not a number
        )
        for text, before, after, place, message in cases:
            with self.subTest(before, after=after):
                self.assertIn(before, text)
                done = self.reproduce(text.replace(before, after, 1))
                self.check(done, 2, f"mine.yaml:{place}: error: ", message)
                self.assertEqual(done.stdout, "")

    def test_a_replay_is_of_the_whole_run_whatever_the_item(self):
        text = RECORD.replace("record: ctas, ", "record: lru, ").replace("ctas.start", "lru.misses").replace("ctas.end", "lru.accesses")
        table = self.ours(text.replace("order.1", "lru.fills"))
        self.assertGreater(float(table["0", "FROM"]), 0)
        self.assertEqual(table["0", "FROM"], table["99", "FROM"])

    def test_a_program_has_to_be_named(self):
        self.check(self.reproduce(DEGREES.replace("run: [vecadd, --block, 64], ", "")), 2,
                   "there is no field 'run' for program 'one'")
        self.check(self.reproduce(RECORD.replace("from: FROM", "from: TO")), 2, "there is no column 'TO'")


HOSTILE = r"""
id: mine
paper: "`touch PWNED`"
title: "it's $(touch PWNED) `touch PWNED` </text><script>x</script>"
place: "' ; system 'touch PWNED' ; '"
machine: owl
plot: bars
programs:
  - {label: "A\"B'C <i>", run: vecadd}
  - {label: "#D EOD", run: [vecadd, --elements, 100]}
setups: [{name: rr, scheduler: lrr}]
columns:
  - {label: "E'; system 'touch PWNED'", metric: cycles, setup: rr, form: number}
  - {label: "`touch PWNED`", metric: cycles, setup: rr, form: number, from: "E'; system 'touch PWNED'"}
"""


class Hostile(Case):
    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_nothing_of_a_file_becomes_code_of_the_plot(self):
        for plot in ("bars", "lines", "spans"):
            self.check(self.reproduce(HOSTILE.replace("plot: bars", f"plot: {plot}"), "--plot", "t.svg"), 0)
            picture = (self.path / "t.svg").read_text(encoding="utf-8")
            for text in ("it's $(touch PWNED) `touch PWNED` &lt;/text>&lt;script", "#D EOD", "`touch PWNED`"):
                self.assertIn(text, picture)
            self.assertFalse((self.path / "PWNED").exists())

    def test_texts_are_one_line_of_letters(self):
        for letter in ("\\n", "\\r", "\\t", "\\0", "\\x1b", "\\x85", "\\u2028", "\\x7f"):
            for field, place in (("title: two", "4:8"), ("{label: A", "9:13"), ("place: here", "5:8")):
                key, value = field.split(": ")
                text = SMALL.replace(field, f'{key}: "{value}{letter}x"', 1).replace('programs, three schedulers', '')
                if key == "title":
                    text = SMALL.replace("title: two programs, three schedulers", f'title: "two{letter}"')
                self.check(self.reproduce(text), 2, f"mine.yaml:{place}: error: a text must not contain line breaks")

    def test_an_experiments_name_is_one_field_of_the_csv(self):
        for name in ("a,b", 'a "b"', "it's", ", ,"):
            text = SMALL.replace("id: mine", f"id: {json.dumps(name)}")
            self.check(self.tyto("reproduce", self.write(text, f"{name}.yaml"), "--size", "test", "--csv", "t.csv"), 0)
            with open(self.path / "t.csv", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    self.assertEqual((row["experiment"], row["size"]), (name, "test"))
                    self.assertNotIn(None, row)

    def test_a_file_is_bounded(self):
        many = ", ".join("A" for _ in range(5000))
        cases = (
            ("absent: [X]", "absent: " + "[" * 100_000, "nested deeper than any field"),
            ("absent: [X]", "absent: " + "{a: " * 100_000, "nested deeper than any field"),
            ("absent: [X]", "absent: &a [X]", "no anchors, aliases or tags"),
            ("absent: [X]", "absent: !!str X", "no anchors, aliases or tags"),
            ("absent: [X]", f"absent: [{many}]", "too many items"),
            ("absent: [X]", "absent: [" + "x" * 2_000_000 + "]", "too many bytes"),
            ("B: 0}", "B: nan}", "not a number: 'nan'"),
            ("B: 0}", "B: 1e999}", "not a number: '1e999'"),
            ("run: vecadd", "run: vecadd, item: 1e300", "not a whole number from 1 to 1000000: '1e300'"),
        )
        for before, after, message in cases:
            self.check(self.reproduce(SMALL.replace(before, after)), 2, message)

    def test_there_are_not_more_runs_than_can_be(self):
        programs = "".join(f"  - {{label: P{i}, run: vecadd}}\n" for i in range(3000))
        setups = "".join(f"  - {{name: S{i}, scheduler: lrr}}\n" for i in range(3000))
        text = SMALL.replace("programs:\n", "programs:\n" + programs).replace("setups:\n", "setups:\n" + setups)
        self.check(self.reproduce(text), 2, "needs more than 65536 runs")
        columns = "".join(f"  - {{label: C{i}, metric: cycles, setup: rr, form: number}}\n" for i in range(3000))
        text = SMALL.replace("programs:\n", "programs:\n" + programs).replace("columns:\n", "columns:\n" + columns)
        self.check(self.reproduce(text), 2, "room for all rows and columns")

    def test_options_from_outside_are_refused(self):
        for words in ((), ("--stored",)):
            self.check(self.reproduce(SMALL, *words, TYTO_OPTIONS="--set l1d.latency=60"), 2, "TYTO_OPTIONS is set")
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())


POLICY = """
#include <stdio.h>
#include <tyto/policy.h>
__attribute__((constructor)) static void loaded(void) {
    FILE *mark = fopen(MARK, "w");
    if (mark) fclose(mark);
}
static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return PICK;
}
const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD, .name = "mine", .summary = "one of mine", .pick = pick};
"""
CTA_POLICY = """
#include <tyto/cta_policy.h>
static int choose(void *state, const TytoGridView *view, const TytoSmSet *room) {
    (void)state, (void)view;
    return tyto_sm_has(room, PICK) ? PICK : TYTO_NO_SM;
}
const TytoCtaPolicy tyto_cta_policy = {
    TYTO_CTA_POLICY_HEAD, .name = "mine", .summary = "one of mine", .is_uneven = true, .choose = choose};
"""
PLUGGED = SMALL.replace("{name: rr, scheduler: lrr}", "{name: rr, scheduler: ./mine.so}")
MACHINE = "base: owl\nname: mine\nscheduler:\n  policy: mine.so\n"


class Plugins(Case):
    def build(self, pick, text=POLICY, place="mine.so"):
        (self.path / place).parent.mkdir(exist_ok=True)
        subprocess.run([os.environ.get("CC", "cc").split()[-1], "-x", "c", "-shared", "-fPIC", f"-I{ROOT}/include",
                        f"-DPICK={pick}", f'-DMARK="{self.path}/LOADED"', "-o", self.path / place, "-"],
                       input=text, text=True, check=True)

    def was_loaded(self):
        mark = self.path / "LOADED"
        is_there = mark.exists()
        mark.unlink(missing_ok=True)
        return is_there

    def cycles(self, text, option):
        """The value that the experiment shows for spmv, and that of a separate run."""
        self.check(self.reproduce(text, "--allow-plugins", "--csv", "t.csv"), 0)
        with open(self.path / "t.csv", encoding="utf-8") as file:
            shown = {(row["row"], row["column"]): row["ours"] for row in csv.DictReader(file)}["B", "RR"]
        self.tyto("run", "--quiet", "--machine", "owl", option, "./mine.so", "--json", "run.json", "spmv", "--size",
                  "test", "--rows", "4000")
        own = json.loads((self.path / "run.json").read_text(encoding="utf-8"))["total"]["cycles"]
        self.assertEqual(int(shown), own)
        return own

    def test_a_policy_that_is_built_anew_is_run_anew(self):
        column = "columns:\n  - {label: RR, metric: cycles, setup: rr, form: number}\n"
        kinds = ((POLICY, "--scheduler", "{name: rr, scheduler: ./mine.so}",
                  ("tyto_lowest(ready)", "63 - __builtin_clzll(ready)")),
                 (CTA_POLICY, "--cta-scheduler", "{name: rr, scheduler: lrr, cta_scheduler: ./mine.so}",
                  (0, "(int)(view->next % view->sms)")))
        for source, option, setup, picks in kinds:
            text = SMALL.replace("{name: rr, scheduler: lrr}", setup).replace("columns:\n", column)
            text = text.replace("--rows, 500", "--rows, 4000")
            cycles = []
            for pick in picks:
                self.build(pick, source)
                cycles.append(self.cycles(text, option))
            self.assertNotEqual(*cycles, option)
            before = self.rows()
            self.cycles(text, option)  # unchanged, so it does not run again
            self.assertEqual(self.rows(), before)

    def test_a_machine_is_its_values_and_not_its_name(self):
        (self.path / "m.yaml").write_text("base: owl\nname: x\n", encoding="utf-8")
        text = SMALL.replace("machine: owl", "machine: ./m.yaml")
        self.check(self.reproduce(text), 0)
        (self.path / "m.yaml").write_text("base: owl\nname: other\ntitle: of no matter\n", encoding="utf-8")
        self.check(self.reproduce(text), 0)
        self.assertEqual(len(self.rows()), RUNS_OF_SMALL)
        (self.path / "m.yaml").write_text("base: owl\nname: x\nl1d:\n  latency: 60\n", encoding="utf-8")
        self.check(self.reproduce(text), 0)
        self.assertEqual(len(self.rows()), 2 * RUNS_OF_SMALL)

    def test_words_are_told_apart(self):
        self.check(self.reproduce(SMALL), 0)
        self.check(self.reproduce(SMALL.replace("--rows, 500", "'--rows 500'")), 1, "failed with status 2")

    def test_an_experiment_loads_code_only_if_that_is_allowed(self):
        self.build("tyto_lowest(ready)")
        cases = (("{name: rr, scheduler: lrr}", "{name: rr, scheduler: ./mine.so}", "12:27"),
                 ("{name: rr, scheduler: lrr}", "{name: rr, scheduler: [lrr, mine.so]}", "12:33"),
                 ("{name: rr, scheduler: lrr}", "{name: rr, scheduler: lrr, set: scheduler.policy=mine.so}", "12:37"),
                 ("{label: A, run: vecadd}", "{label: A, run: vecadd, cta_scheduler: ./mine.so}", "9:44"))
        for before, after, place in cases:
            for words in ((), ("--stored",)):
                self.check(self.reproduce(SMALL.replace(before, after), *words), 2,
                           f"mine.yaml:{place}: error: this is code, which a file may load only with "
                           "--allow-plugins")
                self.assertFalse(self.was_loaded(), after)
        (self.path / "m.yaml").write_text(MACHINE, encoding="utf-8")
        text = SMALL.replace("machine: owl", "machine: ./m.yaml").replace("scheduler: lrr}", "scheduler: gto}")
        self.check(self.reproduce(PLUGGED, "--allow-plugins"), 0)
        self.assertTrue(self.was_loaded())
        self.check(self.reproduce(text), 0)  # the setups name other schedulers, so the machine's is not loaded
        self.assertFalse(self.was_loaded())

    def test_an_experiment_means_files_beside_itself(self):
        (self.path / "folder").mkdir()
        self.build("tyto_lowest(ready)", place="folder/mine.so")
        self.write(PLUGGED, "folder/mine.yaml")
        self.check(self.tyto("reproduce", "folder/mine.yaml", "--size", "test", "--allow-plugins"), 0)
        self.assertTrue(self.was_loaded())

    def test_a_machine_file_loads_code_only_if_that_is_allowed(self):
        self.build("tyto_lowest(ready)", place="folder/mine.so")
        self.write(MACHINE, "folder/m.yaml")
        self.write("base: folder/m.yaml\nname: above\n", "above.yaml")
        run = ("run", "--quiet", "--machine")
        for machine in ("folder/m.yaml", "./above.yaml"):
            for words in ((*run, machine, "vecadd"), ("compare", "--machine", machine, "--schedulers", "lrr", "vecadd")):
                done = self.tyto(*words, "--size", "test")
                if words[0] == "run":
                    self.check(done, 2, "folder/m.yaml:4:11: error: scheduler.policy: mine.so is code")
                self.assertFalse(self.was_loaded())
            self.check(self.tyto("machines", machine), 0)
            self.assertFalse(self.was_loaded())
            self.check(self.tyto(*run, machine, "--allow-plugins", "vecadd", "--size", "test"), 0)
            self.assertTrue(self.was_loaded())
            self.check(self.tyto(*run, machine, "--scheduler", "gto", "vecadd", "--size", "test"), 0)
            self.assertFalse(self.was_loaded())
        self.check(self.tyto(*run, "owl", "--set", "scheduler.policy=folder/mine.so", "vecadd", "--size", "test"), 0)
        self.assertTrue(self.was_loaded())  # the command line names it

    def test_a_policy_that_changes_while_it_runs_is_not_kept(self):
        self.build("tyto_lowest(ready)")
        process = subprocess.Popen([TYTO, "reproduce", self.write(PLUGGED.replace("run: vecadd", "run: lud")), "--size",
                                    "test", "--allow-plugins", "--jobs", "1"], cwd=self.path, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list((self.path / "tmp").glob("*/*.out")):
            time.sleep(0.01)
        self.build("63 - __builtin_clzll(ready)")
        _, errors = process.communicate(timeout=170)
        self.assertIn("under ./mine.so on owl is not stored", errors)
        self.assertEqual(process.returncode, 1)


class Database(Case):
    def test_finished_runs_are_not_run_again(self):
        first = self.reproduce()
        before = self.rows()
        self.assertEqual(len(before), RUNS_OF_SMALL)
        again = self.reproduce(SMALL, "--jobs", "1")
        self.assertEqual(first.stdout, again.stdout)
        self.assertEqual(self.rows(), before)

    def test_a_change_of_anything_is_another_run(self):
        self.reproduce()
        self.reproduce(SMALL.replace("machine: owl", "machine: ccws"))
        self.assertEqual(len(self.rows()), 2 * RUNS_OF_SMALL)
        self.reproduce(SMALL.replace("500", "501"))
        self.assertEqual(len(self.rows()), 2 * RUNS_OF_SMALL + RUNS_OF_SMALL // 2)
        self.assertEqual(len(set(self.rows("version"))), 16)  # 2 programs, 2 machines, 4 setups

    def start_and_wait_for_a_run(self, text):
        process = subprocess.Popen(
            [TYTO, "reproduce", self.write(text), "--size", "test", "--jobs", "1"], cwd=self.path,
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3000):
            try:
                if self.rows():
                    return process
            except sqlite3.Error:
                pass
            time.sleep(0.01)
        process.kill()
        return self.fail("no run finished")

    LONG = SMALL.replace("run: vecadd", "run: lud").replace(
        "'swl:limit=1'", ", ".join(f"'swl:limit={n}'" for n in range(1, 13)))

    def finish(self, before):
        self.check(self.reproduce(self.LONG), 0)
        self.assertEqual(self.rows()[:len(before)], before)
        self.assertEqual(len(self.rows()), RUNS_OF_LONG)

    def test_resumes_after_a_kill(self):
        process = self.start_and_wait_for_a_run(self.LONG)
        process.kill()
        process.communicate()
        before = self.rows()
        self.assertLess(len(before), RUNS_OF_LONG)
        self.finish(before)

    def test_interruption_keeps_what_has_finished(self):
        process = self.start_and_wait_for_a_run(self.LONG)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("interrupted; finished runs are stored", errors)
        self.assertEqual(os.listdir(self.path / "tmp"), [])
        self.finish(self.rows())

    def test_a_damaged_database_does_not_speak_to_the_terminal(self):
        self.reproduce()
        with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
            database.execute("PRAGMA writable_schema = ON")
            database.execute("UPDATE sqlite_master SET name = char(27) || '[2J' || char(0x9b), sql = 'CREATE TABLE'")
        database.close()
        done = self.reproduce()
        self.check(done, 1, "malformed database schema (?[2J??)")
        self.assertTrue(done.stderr.isascii() and done.stderr.replace("\n", "").isprintable(), done.stderr)

    def test_a_file_that_is_no_database_is_left_alone(self):
        (self.path / "tyto-runs.sqlite").write_text("my diary " * 1000, encoding="utf-8")
        self.check(self.reproduce(), 1, "is damaged, or not a database of runs", "--database")
        self.assertTrue((self.path / "tyto-runs.sqlite").read_text(encoding="utf-8").startswith("my diary"))
        self.check(self.reproduce(SMALL, "--database", "other.sqlite"), 0)

    def test_a_damaged_database_is_told(self):
        self.reproduce()
        database = self.path / "tyto-runs.sqlite"
        bytes_ = bytearray(database.read_bytes())
        bytes_[4096:] = os.urandom(1) * (len(bytes_) - 4096)
        database.write_bytes(bytes_)
        self.check(self.reproduce(), 1, "is damaged, or not a database of runs")

    def test_another_layout_and_a_folder_are_told(self):
        with sqlite3.connect(self.path / "tyto-runs.sqlite") as database:
            database.execute("PRAGMA user_version = 99")
            database.execute("PRAGMA application_id = 0x5479746f")
        self.check(self.reproduce(), 1, "newer version of Tyto")
        self.check(self.reproduce(SMALL, "--database", "tmp"), 1, "unable to open database file")

    def test_another_programs_database_is_not_touched(self):
        for statements in ("CREATE TABLE diary (day)", "PRAGMA user_version = -1", "PRAGMA application_id = 7",
                           "CREATE TABLE diary (day); PRAGMA user_version = 1"):
            with sqlite3.connect(self.path / "other.sqlite") as database:
                database.executescript(statements)
            database.close()
            before = (self.path / "other.sqlite").read_bytes()
            self.check(self.reproduce(SMALL, "--database", "other.sqlite"), 1, "other.sqlite belongs to another program")
            self.assertEqual((self.path / "other.sqlite").read_bytes(), before)
            (self.path / "other.sqlite").unlink()

    def test_a_database_is_a_file(self):
        for name in ("", ":memory:", "file:x?mode=memory"):
            self.check(self.reproduce(SMALL, "--database", name), 1, "must be a file")

    def test_a_locked_database_is_told_and_waited_for(self):
        self.check(self.reproduce(), 0)
        lock = sqlite3.connect(self.path / "tyto-runs.sqlite", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        with subprocess.Popen([TYTO, "reproduce", "mine.yaml", "--size", "test"], cwd=self.path, env=self.environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            self.assertIn("waiting for tyto-runs.sqlite, which another process has locked", process.stderr.readline())
            lock.execute("COMMIT")
            lock.close()
            process.communicate(timeout=100)
        self.assertEqual(process.returncode, 0)

    def test_every_way_to_interrupt_leaves_nothing_behind(self):
        for number in (signal.SIGHUP, signal.SIGTERM):
            process = self.start_and_wait_for_a_run(self.LONG)
            process.send_signal(number)
            process.communicate()
            self.assertEqual(process.returncode, -number)
            self.assertEqual(os.listdir(self.path / "tmp"), [])
            (self.path / "tyto-runs.sqlite").unlink()

    def test_an_interrupt_of_all_experiments_ends_all(self):
        self.check(self.tyto("reproduce", IDS[0], "--size", "test"), 0)
        with subprocess.Popen([TYTO, "reproduce", "all", "--size", "test", "--jobs", "1", "--markdown", "page.md"], cwd=self.path,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and not list((self.path / "tmp").glob("*/*.out")):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            try:
                said, errors = process.communicate(timeout=60)
            finally:
                process.kill()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn(f"machine {IDS[0].split('-')[0]}, size test", said)  # the table that it was working on
        self.assertEqual(errors, "tyto: note: --markdown page.md: not written\n"
                         "tyto: error: interrupted; finished runs are stored, and the same command resumes\n")

    def test_nothing_runs_when_only_what_is_stored_is_asked_for(self):
        done = self.reproduce(SMALL, "--stored", "--csv", "t.csv", "--markdown", "page.md")
        self.check(done, 1)
        self.assertIn("8 of 10 runs are missing", done.stdout)
        self.assertFalse((self.path / "tyto-runs.sqlite").exists())
        self.assertIn("| not run |", (self.path / "page.md").read_text(encoding="utf-8"))  # the page is written anyway
        self.assertTrue((self.path / "t.csv").exists())
        self.check(self.reproduce(), 0)
        self.check(self.reproduce(SMALL, "--stored"), 0)
        fewer = SMALL.replace("  - {name: fast,", "  - {name: late, scheduler: gto}\n  - {name: fast,")
        self.check(self.reproduce(fewer, "--stored"), 1)


class Mistakes(Case):
    def test_in_the_file(self):
        cases = [
            ("columns:", "colums:", "mine.yaml:15:1: error: did you mean 'columns'?"),
            ("form: percent", "form: share", "not an allowed value: 'share'"),
            ("place: here\n", "", "missing field: 'place'"),
            ("values: {A: 6000", "values: {A: many", "not a number: 'many'"),
            ("over: rr,", "over: rx,", "there is no setup 'rx'"),
            ("of: [A]", "of: [Q]", "there is no program 'Q'"),
            ("HMEAN: 0.25", "QMEAN: 0.25", "there is no row 'QMEAN'"),
            ("column: BEST", "column: WORST", "there is no column 'WORST'"),
            ("absent: [X]", "absent: {a: b}", "expected a text"),
            ("absent: [X]", "id: mine", "given twice: 'id'"),
            ("absent: [X]", "group: latter", "mine.yaml:7:8: error: not an allowed value: 'latter'"),
            ("absent: [X]", "absent: [X", "mine.yaml:"),
            ("run: vecadd", "run: vecadd, item: 0", "mine.yaml:9:35: error: not a whole number from 1 to 1000000: '0'"),
            ("run: vecadd", "run: vecadd, item: 1.5", "not a whole number from 1 to 1000000: '1.5'"),
            ("run: vecadd", "run: vecadd, item: -1", "not a whole number from 1 to 1000000: '-1'"),
            ("scheduler: lrr}", "scheduler: []}", "mine.yaml:12:27: error: needs at least one item: 'scheduler'"),
            ("metric: cycles", "metric: []", "mine.yaml:18:27: error: needs at least one item: 'metric'"),
            ("{A: 99, HMEAN: 0.25}", "{}", "mine.yaml:25:14: error: needs at least one item: 'values'"),
            ("absent: [X]", "absent: [X]\n---\nid: other", "mine.yaml:8:1: error: only a single document is allowed"),
        ]
        for before, after, message in cases:
            with self.subTest(after):
                self.check(self.reproduce(SMALL.replace(before, after)), 2, message)
        self.check(self.reproduce(""), 2, "the file contains no experiment")
        self.check(self.tyto("reproduce", "./none.yaml"), 2, "cannot read ./none.yaml")

    def test_an_id_is_the_files_name(self):
        for name in ("other", "min", "mine2", "Mine"):
            self.check(self.reproduce(SMALL.replace("id: mine", f"id: {name}")), 2,
                       f"mine.yaml:2:5: error: the id '{name}' is not the file's name, 'mine'")
        (self.path / "folder").mkdir()
        self.check(self.tyto("reproduce", self.write(SMALL, "folder/mine.yaml"), "--stored"), 1)
        self.check(self.tyto("reproduce", self.write(SMALL, "folder/other.yaml"), "--stored"), 2, "folder/other.yaml:2:5: error:")
        self.write(SMALL, "text")
        self.check(self.tyto("reproduce", "./text", "--stored"), 1)  # a file without .yaml may have any id

    def test_two_of_one_name(self):
        cases = [
            ("label: B,", "label: A,", "10:13", "duplicate rows 'A'"),
            ("label: HMEAN,", "label: A,", "20:13", "duplicate rows 'A'"),
            ("label: FIRST,", "label: HMEAN,", "21:13", "duplicate rows 'HMEAN'"),
            ("name: fast,", "name: rr,", "13:12", "duplicate setups 'rr'"),
            ("label: MISSES,", "label: GAIN,", "17:13", "duplicate columns 'GAIN'"),
            ("values: {A: 6000, B: 0}", "values: {A: 6000, B: 0, A: 1}", "23:62", "column 'GAIN' has two numbers of row 'A'"),
            ("{column: BEST", "{column: GAIN, place: there, values: {B: 1}}\n  - {column: BEST", "24:43",
             "column 'GAIN' has two numbers of row 'B'"),
        ]
        for before, after, place, message in cases:
            with self.subTest(after):
                text = SMALL.replace(before, after, 1)
                self.assertNotEqual(text, SMALL)
                done = self.reproduce(text)
                self.check(done, 2, f"mine.yaml:{place}: error: ", message)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.check(self.reproduce(SMALL.replace("GAIN", "A").replace("name: fast", "name: A").replace("setup: fast", "setup: A")), 0)

    def test_in_what_it_names(self):
        cases = [
            ("run: vecadd", "run: vecad", "did you mean 'vecadd'?"),
            ("scheduler: lrr}", "scheduler: lrx}", "mine.yaml:12:27: error: there is no warp scheduler 'lrx'"),
            ("machine: owl", "machine: owll", "mine.yaml:6:10: error: no machine 'owll'"),
            ("oracle.perfect_l1", "oracle.perfect_l9", "mine.yaml:13:40: error: oracle.perfect_l9: no such key"),
        ]
        for before, after, message in cases:
            with self.subTest(after):
                self.check(self.reproduce(SMALL.replace(before, after)), 2, message)
                self.assertEqual(self.rows(), [])  # nothing ran
        self.check(self.reproduce(SMALL.replace("metric: cycles", "metric: cicles")), 2,
                   "mine.yaml:18:27: error: there is no metric 'cicles'; did you mean 'cycles'?")

    def test_tables_are_aligned_by_columns_and_not_by_bytes(self):
        plain = self.reproduce(SMALL).stdout.splitlines()
        other = self.reproduce(SMALL.replace("GAIN", "GÄIN").replace("FIRST", "ZWÖLF FLÜGE").replace("label: B,", "label: 漢,").replace("B: 0", "漢: 0")).stdout
        lines = other.splitlines()
        width = len("ZWÖLF FLÜGE") - 10  # a label has at least ten columns
        self.assertEqual(lines[3], " " * width + plain[3].replace("GAIN", "GÄIN"))
        self.assertEqual(lines[5], plain[5].replace("A ", "A " + " " * width, 1))
        self.assertEqual(lines[6], plain[6].replace("B  ", "漢 " + " " * width, 1))

    def test_a_program_that_fails_leaves_the_others(self):
        done = self.reproduce(SMALL.replace("--rows, 500", "--rosw, 500"))
        self.check(done, 1, " failed with status 2:\nspmv: unknown option '--rosw'", "spmv --rosw 500 --size test under lrr on owl")
        self.assertEqual(done.stderr.count("unknown option"), 1, done.stderr)
        self.assertIn("4 of 10 runs are missing", done.stdout)
        self.assertEqual(len(self.rows()), RUNS_OF_SMALL // 2)

    def test_on_the_command_line(self):
        self.check(self.tyto("reproduce", "owl-table-2", "--size", "huge"), 2, "not one of test, small, paper")
        self.check(self.tyto("reproduce", "owl-table-2", "--jobs", "0"), 2, "not a number of processes")
        for group in ("all", "later"):
            self.check(self.tyto("reproduce", group, "--plot", "x.svg"), 2, "--plot needs a single experiment")
        for option, name in (("--csv", "x.csv"), ("--csv", "-"), ("--plot", "x.svg"), ("--markdown", "x.md")):
            done = self.tyto("reproduce", "list", option, name)
            self.check(done, 2, f"{option} needs an experiment: tyto reproduce list writes no file")
            self.assertEqual((done.stdout, list(self.path.glob("x.*"))), ("", []))
        self.check(self.reproduce(SMALL, "--csv", "no/such/file"), 2, "--csv no/such/file: cannot be written")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
