#!/usr/bin/env python3
"""The arithmetic of scripts/poise-train, and a whole training whose runs a stand-in for tyto answers."""
import math
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
SCRIPT = ROOT / "scripts" / "poise-train"
TRAIN = runpy.run_path(str(SCRIPT))
Program, GRID, ALL = TRAIN["Program"], TRAIN["GRID"], TRAIN["ALL"]

# The features of a program are a constant and its name's length. Two SMs report, one with three times the samples. The
# fewest cycles are at 8 warps, 4 of them polluting, for every program.
STAND_IN = """\
    #!/usr/bin/env python3
    import csv, sys
    words = sys.argv[1:]
    if words[0] == "run":
        name = words[words.index("--policies") + 2]
        rows = []
        for sm, inferences, sign in ((0, 1, -3), (1, 3, 1)):
            values = {"inferences": inferences, "most": 32}
            rows += [(name, 100, sm, key, "", value) for key, value in values.items()]
            rows += [(name, 100, sm, "features", 0, 1), (name, 100, sm, "features", 1, sign + len(name) / 8)]
        rows.append((name, 100, 0, "origin", "", "text"))
        with open(words[words.index("--policies") + 1], "w", encoding="utf-8") as file:
            csv.writer(file).writerows([("kernel", "cycle", "sm", "name", "index", "value"), *rows])
    else:
        names = words[1:words.index("--machines")]
        with open(words[words.index("--csv") + 1], "w", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(("program", "scheduler", "cycles"))
            for name in names:
                for scheduler in words[words.index("--schedulers") + 1].replace(",poise", " poise").split():
                    best = scheduler == "poise:warps=8,polluting=4"
                    out.writerow((name + " --size small", scheduler, 1000 if best else 2000))
"""


def program(features, most, best):
    """A program whose fewest cycles are at a point of the grid."""
    made = Program("p", features, most)
    made.cycles = {point: 1000 if point == best else 2000 for point in GRID}
    return made


class Arithmetic(unittest.TestCase):
    def test_equations_are_solved_whose_first_pivot_is_zero(self):
        matrix, expected = [[0, 2, 1], [1, 1, 0], [3, 0, 1]], [2.0, -1.0, 4.0]
        vector = [sum(a * x for a, x in zip(row, expected)) for row in matrix]
        for got, value in zip(TRAIN["solve"](matrix, vector), expected):
            self.assertAlmostEqual(got, value)

    def test_the_best_point_is_the_one_with_the_most_warps_of_those_that_are_close(self):
        made = program([1], 48, (4, 4))
        self.assertEqual(made.best_point(), (4, 4))
        made.cycles[8, 8] = made.cycles[8, 4] = 1009
        made.cycles[16, 16] = 1011
        self.assertEqual(made.best_point(), (8, 8))
        self.assertAlmostEqual(made.gain((8, 8)), 2000 / 1009)

    def test_points_are_clipped_to_the_warps_that_fit(self):
        made = program([1], 6, (16, 8))
        self.assertEqual(made.best(), (6, 6))
        self.assertEqual(made.nearest((6, 6)), (ALL, ALL))
        self.assertEqual(made.nearest((4, 2)), (4, 2))

    def test_a_constant_alone_is_the_mean(self):
        programs = [program([1], 32, (8, 4)), program([1], 32, (16, 8)), program([1], 32, (ALL, ALL))]
        for knob, mean in ((0, (8 + 16 + 32) / 3), (1, (4 + 8 + 32) / 3)):
            self.assertAlmostEqual(32 * math.exp(TRAIN["fit"](programs, knob)[0]), mean, places=6)

    def test_weights_tell_programs_apart(self):
        programs = [program([1, x / 4], 32, (16, 16) if x > 0 else (4, 4)) for x in (-4, -3, -2, 2, 3, 4)]
        constant, slope = TRAIN["fit"](programs, 0)
        self.assertGreater(slope, 0.3)
        self.assertLess(abs(math.exp(constant) - math.sqrt(4 * 16) / 32), 0.05)

    def test_the_ridge_holds_the_weights_of_features_that_nothing_explains(self):
        programs = [program([1, x], 32, (8, 8)) for x in (-1, 1)]
        constant, slope = TRAIN["fit"](programs, 0)
        self.assertAlmostEqual(slope, 0)
        self.assertAlmostEqual(32 * math.exp(constant), 8)

    def test_predictions_are_within_bounds(self):
        made = program([1], 32, (8, 4))
        self.assertEqual(TRAIN["predict"]([[math.log(1 / 4)], [math.log(1 / 8)]], made), (8, 4))
        self.assertEqual(TRAIN["predict"]([[3.0], [3.0]], made), (32, 32))
        self.assertEqual(TRAIN["predict"]([[math.log(1 / 8)], [0.0]], made), (4, 4))
        self.assertEqual(TRAIN["predict"]([[-9.0], [-9.0]], made), (1, 1))


class Training(unittest.TestCase):
    def test_a_training_writes_what_it_has_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            tyto, header = pathlib.Path(folder) / "tyto", pathlib.Path(folder) / "weights.h"
            tyto.write_text(textwrap.dedent(STAND_IN), encoding="utf-8")
            tyto.chmod(0o755)
            done = subprocess.run([SCRIPT, "--tyto", tyto, "--header", header, "--jobs", "2"], check=True, text=True,
                                  stdout=subprocess.PIPE)
            text = header.read_text(encoding="utf-8")
        self.assertIn("enum { POISE_FEATURES = 2 };", text)
        rows = [[float(number) for number in row.split(",")] for row in re.findall(r"^    \{(.*)\},$", text, re.M)]
        # all programs have the same best point, so the constants say it, and the other weights nothing
        self.assertEqual([round(32 * math.exp(constant)) for constant, _ in rows], [8, 4])
        for _, slope in rows:
            self.assertAlmostEqual(slope, 0, places=3)
        self.assertIn("The best points give +100.0%", text)
        self.assertRegex(done.stdout, r"spmv +32 +8,4 +8,4 +100\.0% +100\.0%|bfs +32 +8,4 +8,4 +100\.0% +100\.0%")

    def test_a_run_that_fails_ends_the_training(self):
        done = subprocess.run([SCRIPT, "--tyto", "/bin/false", "--header", "/dev/null", "--jobs", "1"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with status 1", done.stderr)

    def test_features_are_means_by_the_number_of_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            tyto = pathlib.Path(folder) / "tyto"
            tyto.write_text(textwrap.dedent(STAND_IN), encoding="utf-8")
            tyto.chmod(0o755)
            arguments = type("Arguments", (), {"tyto": str(tyto), "machine": "gtx480", "size": "small"})
            made = TRAIN["measure_features"](arguments, "spmv")
        self.assertEqual((made.most, made.features), (32, [1.0, (-3 + 3 * 1) / 4 + 4 / 8]))

    def test_the_shipped_weights_have_the_form_that_the_script_writes(self):
        text = (ROOT / "src" / "sched" / "poise_weights.h").read_text(encoding="utf-8")
        count = int(re.search(r"POISE_FEATURES = (\d+)", text)[1])
        rows = re.findall(r"^    \{(.*)\},$", text, re.M)
        self.assertEqual([len(row.split(",")) for row in rows], [count, count])


unittest.main()
