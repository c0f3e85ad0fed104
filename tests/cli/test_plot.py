#!/usr/bin/env python3
"""The content of plots, read from the SVG that gnuplot draws.

usage: test_plot.py TYTO

All tests are skipped if gnuplot is not installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TYTO = pathlib.Path(sys.argv[1]).resolve()
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
SERIES = 14
MANY = f"""
id: mine
paper: OURS
title: many series
place: here
machine: owl
programs: [{{label: A, run: vecadd}}, {{label: B, run: reduction}}]
setups:
  - {{name: rr, scheduler: lrr}}
  - {{name: perfect, scheduler: lrr, set: [oracle.perfect_l1=true]}}
columns:
{"".join(f"  - {{label: COLUMN{i}, metric: ipc, setup: perfect, over: rr, form: ratio}}{chr(10)}" for i in range(SERIES))}
  - {{label: AUXILIARY, metric: l1d_misses, per: l1d_accesses, setup: rr, form: percent}}
published:
  - {{column: COLUMN0, place: here, values: {{A: 1.5}}}}
"""
LONELY = MANY.replace(MANY[MANY.index("  - {label: COLUMN1,"):MANY.index("  - {label: AUX")], "")


class Figure:
    """Bars, texts and colours of a plot."""

    def __init__(self, svg):
        self.texts = re.findall(r"<text>([^<]*)</text>", svg)
        self.bars = []  # colour, left, top, bottom
        for group in re.findall(r'<g id="gnuplot_plot_\d+"(.*?)(?=<g id="gnuplot_plot_|\Z)', svg, re.S):
            drawn = re.findall(r"<polygon (fill = '[^']*'(?: fill-opacity = '[^']*')?) points = '([^']*)'", group)
            for name, points in drawn["<text>" in group:]:  # skip the sample in the key
                corners = [tuple(map(float, point.split(","))) for point in points.split()]
                self.bars.append((name, min(x for x, _ in corners), min(y for _, y in corners), max(y for _, y in corners)))

    def lengths(self):
        return [bottom - top for _, _, top, bottom in sorted(self.bars, key=lambda bar: bar[1])]


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class Plots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def tyto(self, *words, status=0):
        done = subprocess.run([TYTO, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.path, env=PLAIN, timeout=170)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def figure(self, name="p.svg"):
        return Figure((self.path / name).read_text(encoding="utf-8"))

    def compare(self, *words, **more):
        return self.tyto("compare", "--database", "runs", "--machine", "ccws", "--schedulers", "gto,lrr,swl:limit=1..2", *words, "spmv", "--size", "1024", **more)

    def test_a_small_gain_has_a_short_bar(self):
        self.tyto("compare", "--machine", "gtx480", "--schedulers", "gto,lrr", "--plot", "p.svg", "vecadd", "--size", "test")  # lrr is 1% slower
        lengths = self.figure().lengths()
        self.assertEqual(len(lengths), 2)  # bars start at 0, so a difference of 1% is small
        self.assertGreater(lengths[0] - lengths[1], 0.005 * lengths[0])
        self.assertLess(lengths[0] - lengths[1], 0.02 * lengths[0])

    def test_a_comparison_has_a_bar_for_each_run_as_long_as_its_speed_up(self):
        done = self.compare("--plot", "p.svg", "--json", "c.json")
        self.assertEqual(done.stderr.count("warning"), 0)
        cycles = [run["total"]["cycles"] for run in json.loads((self.path / "c.json").read_text())["runs"]]
        gains = [cycles[0] / each - 1 for each in cycles]
        seen = self.figure()
        lengths = seen.lengths()
        self.assertEqual(len(lengths), 4)
        scale = lengths[0]  # length of the first bar; its speed-up is 1
        for length, gain in zip(lengths, gains):
            self.assertAlmostEqual(length, (1 + gain) * scale, delta=1)
        for text in ("speed-up over gto (ratio of cycles)", "spmv --size 1024 on ccws", "swl:limit=2", *(f"{1 + gain:.3f}x" for gain in gains)):
            self.assertIn(text, seen.texts)

    def test_a_picture_says_which_command_drew_it(self):
        words = ("--plot", "p.svg", "--machine", "gtx480", "--schedulers", "lrr,gto", "vecadd", "--size", "test")
        self.tyto("compare", *words)
        root = xml.etree.ElementTree.parse(self.path / "p.svg").getroot()
        self.assertEqual(root.find("{http://www.w3.org/2000/svg}metadata").text, " ".join(("tyto compare", *words)))
        self.assertEqual(root.find("{http://www.w3.org/2000/svg}title").text, "vecadd --size test on gtx480")
        self.tyto("sweep", "vecadd --elements 300", "--x", "scheduler", "--schedulers", "lrr,gto", "--sizes", "test", "--plot", "<&>.svg")
        root = xml.etree.ElementTree.parse(self.path / "<&>.svg").getroot()
        self.assertIn("--plot <&>.svg", root.find("{http://www.w3.org/2000/svg}metadata").text)

    def test_a_sweep_joins_values_that_are_numbers_and_nothing_else(self):
        for x, given, lines in (("l1d.size", ("--machines", "gtx480", "--set", "l1d.size=16KiB,32KiB"), 2), ("machine", ("--machines", "owl,ccws"), 0),
                                ("size", ("--sizes", "100,200"), 2), ("size", ("--sizes", "test,200"), 0)):
            self.tyto("sweep", "vecadd", *(given if "--sizes" in given else (*given, "--sizes", "test")), "--schedulers", "lrr,gto", "--x", x, "--plot", "p.svg")
            drawn = (self.path / "p.svg").read_text(encoding="utf-8").split('<g id="gnuplot_plot_1a"')[1]
            self.assertEqual(len(re.findall(r"<path stroke='rgb\(", drawn)), lines, x)
            self.assertEqual(len(re.findall("<use xlink:href='#gpPt", drawn)), 2 * (2 + 1), x)  # one of each is in the key

    def test_a_comparison_as_pdf_and_to_standard_output(self):
        self.compare("--plot", "p.pdf")
        self.assertTrue((self.path / "p.pdf").read_bytes().startswith(b"%PDF"))
        done = self.compare("--plot", "-")
        self.assertTrue(done.stdout.startswith("<?xml"))
        self.assertIn("gto is fastest" if "gto is" in done.stderr else "is fastest", done.stderr)

    def test_a_comparison_names_both_schedulers_of_a_run(self):
        self.tyto("compare", "--schedulers", "lrr,gto", "--cta-schedulers", "round-robin,limit:ctas=1", "--plot", "p.svg", "vecadd", "--size", "test")
        self.assertIn("gto with limit:ctas=1", self.figure().texts)
        self.tyto("compare", "--cta-schedulers", "round-robin,limit:ctas=1", "--plot", "p.svg", "vecadd", "--size", "test")
        self.assertIn("speed-up over round-robin (ratio of cycles)", self.figure().texts)

    def test_what_cannot_be_drawn_is_told_before_anything_runs(self):
        self.assertIn("--plot no/p.svg: cannot be written", self.compare("--plot", "no/p.svg", status=2).stderr)
        self.assertIn("--plot p.png: the file must end in .svg or .pdf", self.compare("--plot", "p.png", status=2).stderr)

    def test_gnuplot_says_nothing_of_a_single_point(self):
        done = self.tyto("sweep", "vecadd", "--sizes", "test", "--plot", "p.svg")
        self.assertEqual(done.stderr, "")

    def reproduce(self, text):
        (self.path / "mine.yaml").write_text(text, encoding="utf-8")
        done = self.tyto("reproduce", "./mine.yaml", "--size", "test", "--plot", "p.svg")
        self.assertNotIn("warning", done.stderr)
        return self.figure()

    def test_series_have_twelve_colours_and_lighter_ones_after_them(self):
        seen = self.reproduce(MANY)
        self.assertTrue({f"COLUMN{i}" for i in range(SERIES)} <= set(seen.texts))
        self.assertNotIn("AUXILIARY", seen.texts)
        bars = [name for name, *_ in seen.bars]
        self.assertEqual(len(set(bars)), SERIES, sorted(set(bars)))

    def test_an_experiment_of_one_series_stands_on_its_base_and_shows_what_was_published(self):
        seen = self.reproduce(LONELY)
        self.assertIn("COLUMN0", seen.texts)
        self.assertIn("published", seen.texts)
        self.assertIn("ipc over rr", seen.texts)
        self.assertNotIn("AUXILIARY", seen.texts)
        bottoms = {bottom for name, _, top, bottom in seen.bars if bottom - top > 2}
        self.assertLessEqual(max(bottoms) - min(bottoms), 1)  # all start from the same line, at 1
        self.tyto("reproduce", "./mine.yaml", "--size", "test", "--stored", "--plot", "p.pdf")
        self.assertTrue((self.path / "p.pdf").read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
