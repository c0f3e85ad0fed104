#!/usr/bin/env python3
"""Issue slots of single instructions: compares src/issue_stream/lower.def with ptxas's output for forms, stored in
slots.csv.

usage: test_slots.py PROGRAM SCRIPTS        PROGRAM is built from slots_of_forms.c, SCRIPTS is the folder of issue-costs

The stored numbers are always compared with the table, and with ptxas if that of CUDA 13.0 is installed.
"""
import csv
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SCRIPTS = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
RELEASE = "release 13.0"
MEETING = 2  # for reconvergence after some lanes took the path to a routine (BSSY, BSYNC)
CALLING = 4  # at most: operands and address of a routine that is always called, the call, its result


def read_rows() -> list[tuple[str, int, int, int]]:
    text = pathlib.Path(__file__).with_name("slots.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return [(row["form"], int(row["way"]), int(row["routine"]), int(row["slots"])) for row in rows]


ROWS = read_rows()


def table() -> tuple[list[tuple[int, int]], int]:
    """Slots and row of each form, and the number of rows."""
    forms = "".join(f"{row[0]}\n" for row in ROWS)
    lines = subprocess.run([PROGRAM], input=forms, capture_output=True, text=True, check=True).stdout.splitlines()
    return [tuple(map(int, line.split())) for line in lines[:-1]], int(lines[-1])


def why_not_here() -> str:
    if not shutil.which("ptxas"):
        return "ptxas is not installed"
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True).stdout
    return "" if RELEASE in version else f"ptxas is not of CUDA {RELEASE.split()[1]}"


class Slots(unittest.TestCase):
    def test_every_form_takes_the_slots_that_are_written(self):
        for (form, _, _, slots), (ours, _) in zip(ROWS, table()[0], strict=True):
            self.assertEqual(ours, slots, form)

    def test_every_row_of_the_table_is_held_by_a_form(self):
        found, count = table()
        self.assertEqual({row for _, row in found} - {0}, set(range(1, count + 1)))

    def test_slots_are_those_of_the_way_without_a_routine_where_there_is_one(self):
        for form, way, routine, slots in ROWS:
            if way and routine:
                self.assertEqual(slots, way + MEETING, form)
            elif routine:  # a routine with several paths: the usual one
                self.assertLessEqual(slots, routine + CALLING, form)
            else:
                self.assertEqual(slots, way, form)

    @unittest.skipIf(why_not_here(), why_not_here())
    def test_ptxas_makes_of_every_form_what_is_written(self):
        loader = importlib.machinery.SourceFileLoader("issue_costs", str(SCRIPTS / "issue-costs"))
        sys.path.insert(0, str(SCRIPTS))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("issue_costs", loader))
        loader.exec_module(module)
        with tempfile.TemporaryDirectory() as folder:
            forms = pathlib.Path(folder, "forms.txt")
            forms.write_text("".join(f"{row[0]}\n" for row in ROWS), encoding="utf-8")
            for (form, way, routine, _), (_, found) in zip(ROWS, module.measure_file(forms, "sm_80"), strict=True):
                self.assertEqual(found, (way, routine), form)


if __name__ == "__main__":
    unittest.main()
