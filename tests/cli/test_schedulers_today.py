#!/usr/bin/env python3
"""scripts/schedulers-today has inputs for every program, and its page has the result for each paper.

usage: test_schedulers_today.py TYTO SOURCES
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TYTO, SOURCES = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
INPUTS = SOURCES / "scripts" / "schedulers-today.yaml"
LEFT_OUT = {"micro", "mmicro", "wgemm", "mgemm", "hgemm", "hattention"}  # they measure a machine
# Workloads that are newer than the study.
LEFT_OUT |= {"colouring", "components", "embedding", "hashjoin", "knn", "pagerank", "sparseattention", "spmm", "triangles"}


def inputs():
    return [line.split() for line in re.findall(r"(?m)^  - (\w[^#\n]*)", INPUTS.read_text(encoding="utf-8"))]


class SchedulersToday(unittest.TestCase):
    def test_every_program_has_one_input(self):
        table = (SOURCES / "workloads" / "README.md").read_text(encoding="utf-8")
        programs = set(re.findall(r"(?m)^\| `(\w+)` \|", table)) - LEFT_OUT
        self.assertEqual(sorted(words[0] for words in inputs()), sorted(programs))

    def test_every_input_is_of_parameters_that_the_program_has(self):
        for program, *arguments in inputs():
            usage = subprocess.run([TYTO.parent / "workloads" / program, "--help"], capture_output=True, text=True, check=False)
            for name in arguments[::2]:
                self.assertRegex(usage.stdout, rf"(?m)^  {name} ", program)

    def page(self, *words):
        done = subprocess.run([sys.executable, SOURCES / "scripts" / "schedulers-today", *words, "--tyto", TYTO, "--jobs", "2",
                               "--machines", "gtx480", "--page", "-"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_page_says_of_each_paper_what_came_out_and_names_what_was_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            database = ("--database", str(pathlib.Path(folder) / "runs.sqlite"))
            page = self.page("nearest", *database)
            self.assertEqual(re.findall(r"(?m)^\| \*\*(\w+)\*\*: ", page), ["OWL", "CCWS", "PRO", "MD"])
            self.assertIn("| `nearest` | --records ", page)
            self.assertNotIn("Not run", page)
            more = self.page("nearest", "scan", "--stored", *database)
        self.assertIn("Not run on `gtx480`: `scan`.", more)

        def rows(text):
            return re.findall(r"(?m)^\| \*\*.*", text)
        self.assertEqual(rows(more), rows(page))


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
