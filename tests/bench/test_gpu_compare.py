"""scripts/gpu-compare: its result for two lists of launches. Its page must show the counts of the file next to it.

usage: test_gpu_compare.py SOURCE_ROOT
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
LOADER = importlib.machinery.SourceFileLoader("gpu_compare", str(ROOT / "scripts" / "gpu-compare"))
gpu_compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_compare", LOADER))
LOADER.exec_module(gpu_compare)
METRICS = [metric for _, metrics, _ in gpu_compare.FIGURES for metric in metrics]
PAGE = ROOT / "docs" / "fidelity-h100.md"
PROGRAM = re.compile(r"^\| `(\w+)` \| (\d+) \| \S+ \| ([\d,]+) \|", re.M)


def theirs(launch, kernel, value):
    return {"program": "p", "kernel": kernel, "launch": str(launch), **{metric: str(value) for metric in METRICS}}


def ours(kernel, value):
    counters = ("machine_instructions", "cycles", "l1d_load_accesses", "l2_accesses", "l2_far_accesses", "dram_read_commands")
    return {"kernel": kernel, **{counter: value for counter in counters}}


class Comparison(unittest.TestCase):
    def test_launches_are_paired_by_number_and_kernel(self):
        rows = gpu_compare.compare([theirs(0, "a", 100), theirs(1, "b", 100), theirs(2, "c", 100)], [ours("a", 50), ours("x", 50)])
        self.assertEqual([(row["launch"], row["figures"]["cycles"]) for row in rows], [(0, (100.0, 50.0))])

    def test_what_both_halves_of_l2_see_counts_twice(self):
        here = {**ours("a", 50), "l2_accesses": 60, "l2_far_accesses": 30}
        there = {**theirs(0, "a", 1), "lts__t_sectors_op_read.sum": "70", "lts__t_sectors_op_write.sum": "50"}
        self.assertEqual(gpu_compare.compare([there], [here])[0]["figures"]["L2 sectors"], (120.0, 90.0))

    def test_half_and_twice_are_as_far_off(self):
        rows = gpu_compare.compare([theirs(0, "a", 100), theirs(1, "a", 1000)], [ours("a", 50), ours("a", 2000)])
        ratio, mean, median, _ = gpu_compare.summary(rows, "cycles")
        self.assertAlmostEqual(ratio, 1)
        self.assertAlmostEqual(mean, (0.5 + 1) / 2)
        self.assertAlmostEqual(median, (0.5 + 1) / 2)

    def test_nothing_counts_as_one(self):
        rows = gpu_compare.compare([theirs(0, "a", 0)], [ours("a", 1)])
        self.assertEqual(gpu_compare.error(rows[0]["figures"]["cycles"]), 0)

    def test_a_page_keeps_what_stands_around_its_table(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(f"before\n{gpu_compare.BEGIN}\nold\n{gpu_compare.END}\nafter\n", encoding="utf-8")
            gpu_compare.write_page(page, ["new"])
            self.assertEqual(page.read_text(encoding="utf-8"), f"before\n{gpu_compare.BEGIN}\n\nnew\n\n{gpu_compare.END}\nafter\n")
            page.write_text("no place\n", encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, "no line"):
                gpu_compare.write_page(page, ["new"])

    def test_the_page_is_of_the_counts_beside_it(self):
        counts = gpu_compare.read_counts(ROOT / "docs" / "h100" / "paper.csv")
        rows = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(rows), 40)
        for program, launches, cycles in rows:
            there = sorted(float(row["sm__cycles_elapsed.max"]) for row in counts[program])
            self.assertLessEqual(int(launches), len(there), program)
            if int(launches) == len(there):
                self.assertEqual(cycles, f"{sum(there):,.0f}", program)


def states(launch, kernel, **warps):
    """A launch as the profiler reports it; stalls are in warps per issue."""
    row = {"program": "p", "kernel": kernel, "launch": str(launch), "cycles": "9", "instructions": "9", "active": "9"}
    return {**row, "selected": "1", **{name: str(value) for name, value in warps.items()}}


class Stalls(unittest.TestCase):
    ROWS = gpu_compare.compare_stalls(
        [states(0, "a", wait=3, drain=1), states(1, "b", wait=1, drain=3), states(2, "c", wait=1, drain=1)],
        [{"kernel": "a", "warp_states": {"selected": 100, "wait": 100, "drain": 100}},
         {"kernel": "b", "warp_states": {"selected": 10, "wait": 30, "drain": 10}}])

    def test_shares_leave_out_who_issued(self):
        self.assertEqual([row["name"] for row in self.ROWS], ["a 0", "b 1"])
        self.assertEqual(self.ROWS[0]["there"], {"wait": 75, "drain": 25})
        self.assertEqual(self.ROWS[0]["here"], {"wait": 50, "drain": 50})
        self.assertEqual(self.ROWS[0]["stalled"], [4, 2])

    def test_the_distance_is_what_would_have_to_move(self):
        self.assertEqual([gpu_compare.distance(row) for row in self.ROWS], [25, 50])

    def test_the_summary_counts_launches_with_the_same_largest_reason(self):
        self.assertIn("1 of 2 launches", gpu_compare.sum_up(self.ROWS))
        self.assertIn("off by 37.5 points", gpu_compare.sum_up(self.ROWS))
        self.assertIn("| `b 1` | 4.0 | 4.0 | `drain` | 75% | 25% | -50 | `wait` 75% | 50% |", gpu_compare.stalls_table(self.ROWS, ["q"]))

    def test_the_page_has_launches_of_the_counts_beside_it(self):
        launches = {f"{row['kernel']} {row['launch']}" for rows in gpu_compare.read_counts(ROOT / "docs" / "h100" / "stalls.csv").values() for row in rows}
        _, _, table = PAGE.read_text(encoding="utf-8").partition(gpu_compare.BEGIN_STALLS)
        shown = set(re.findall(r"(?m)^\| `(\w+ \d+)` \|", table.partition(gpu_compare.END)[0]))
        self.assertGreater(len(shown), 20)
        self.assertEqual(shown - launches, set())


if __name__ == "__main__":
    unittest.main()
