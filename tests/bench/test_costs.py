#!/usr/bin/env python3
"""The arithmetic of bench/compare: which lines of callgrind's output count, for which function, and when a build is
slower."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "bench"))

from cases import CASES, cases_named  # noqa: E402
from costs import (Cost, Functions, change_of, changes, functions_of, has_lost, is_counted,  # noqa: E402
                   read_callgrind)

# A function of the library with another inlined into it, and a call whose cost is listed at the called function.
OUTPUT = """\
positions: line
events: Ir

ob=/b/libtyto.so.0.1.0
fl=/t/src/noc/switch.c
fn=step
12 100
fi=/t/src/base/bits.h
30 7
fe=/t/src/noc/switch.c
13 20
cob=/lib/libc.so.6
cfi=/c/memset.c
cfn=memset
calls=2 5
13 900
14 3

fn=step'2
12 10

ob=/lib/libc.so.6
fl=/c/memset.c
fn=memset
5 900

ob=/b/workloads/spmv
fl=/t/workloads/spmv/host.c
fn=main
9 5000
"""

SOURCE = """\
#define LINE(x) { x }
static int first(int a,
                 int b) {
    return a + b;
}

int declared(int a);

typedef struct S {
    int a;
} S;

int second(void) {
    return 1;
}
"""


def cost_of(functions, warp_instructions=10):
    places = {(name, "", 0): count for name, count in functions.items()}
    return Cost(sum(functions.values()), places, warp_instructions)


class Costs(unittest.TestCase):
    def test_a_call_counts_for_the_function_that_is_called(self):
        costs = read_callgrind(OUTPUT.splitlines(True))
        own = sum(count for (path, symbol, *_), count in costs.items() if symbol == "step")
        self.assertEqual(own, 140)
        self.assertEqual(costs["/lib/libc.so.6", "memset", "/c/memset.c", 5], 900)

    def test_what_is_inlined_keeps_its_own_file(self):
        costs = read_callgrind(OUTPUT.splitlines(True))
        self.assertEqual(costs["/b/libtyto.so.0.1.0", "step", "/t/src/base/bits.h", 30], 7)

    def test_a_recursion_is_one_function(self):
        costs = read_callgrind(OUTPUT.splitlines(True))
        self.assertEqual(costs["/b/libtyto.so.0.1.0", "step", "/t/src/noc/switch.c", 12], 110)

    def test_the_host_program_and_the_loader_do_not_count(self):
        self.assertFalse(is_counted("/b/workloads/spmv", "spmv"))
        self.assertFalse(is_counted("/lib/ld-linux-x86-64.so.2", "spmv"))
        self.assertTrue(is_counted("/b/libtyto.so.0.1.0", "spmv"))
        self.assertTrue(is_counted("/lib/libc.so.6", "spmv"))


class Names(unittest.TestCase):
    def test_a_line_belongs_to_the_function_around_it(self):
        starts, names = functions_of(SOURCE)
        self.assertEqual(list(zip(starts, names)), [(0, ""), (2, "first"), (6, ""), (12, ""), (13, "second"), (16, "")])

    def test_an_inlined_function_is_named_wherever_it_was_put(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "src" / "sm" / "issue.c"
            path.parent.mkdir(parents=True)
            path.write_text(SOURCE, encoding="utf-8")
            functions = Functions(pathlib.Path(folder), True)
            self.assertEqual(functions.of("caller.lto_priv.0", "/x/src/sm/issue.c", 3), "sm/issue.c first")
            self.assertEqual(functions.of("caller.part.1", "/x/src/sm/issue.c", 1), "sm/issue.c caller")

    def test_without_lines_the_symbol_names_the_function(self):
        self.assertEqual(Functions(pathlib.Path("/nowhere"), False).of("step.isra.0", "/x/src/sm/issue.c", 3), "step")


class Verdict(unittest.TestCase):
    def test_five_percent_more_is_no_loss_and_a_little_beyond_is(self):
        old = cost_of({"step": 1000})
        self.assertFalse(has_lost(old, cost_of({"step": 1050})))
        self.assertTrue(has_lost(old, cost_of({"step": 1051})))

    def test_more_work_at_the_same_cost_is_no_loss(self):
        self.assertAlmostEqual(change_of(cost_of({"step": 1000}, 10), cost_of({"step": 2000}, 20)), 0)

    def test_the_function_that_lost_most_comes_first_though_others_are_dearer(self):
        old = cost_of({"dear": 5000, "grown": 100, "shrunk": 700})
        new = cost_of({"dear": 5050, "grown": 900, "shrunk": 300})
        rows = changes(old, new, [pathlib.Path("/nowhere")] * 2)
        self.assertEqual([row.function for row in rows], ["grown", "dear", "shrunk"])
        self.assertEqual((rows[0].old, rows[0].new), (10, 90))

    def test_a_function_that_is_new_is_a_loss_of_all_it_costs(self):
        rows = changes(cost_of({"a": 10}), cost_of({"a": 10, "b": 30}), [pathlib.Path("/nowhere")] * 2)
        self.assertEqual((rows[0].function, rows[0].old, rows[0].new), ("b", 0, 3))


class Cases(unittest.TestCase):
    def test_every_case_has_a_name_of_its_own(self):
        self.assertEqual(len({case.name for case in CASES}), len(CASES))

    def test_cases_are_chosen_by_name_and_unknown_names_refused(self):
        self.assertEqual([case.name for case in cases_named(["spmv", "bfs"])], ["bfs", "spmv"])
        self.assertEqual(cases_named([]), list(CASES))
        with self.assertRaisesRegex(ValueError, "^spnv: no such run; there are functional-matmul, "):
            cases_named(["spnv"])


unittest.main(argv=sys.argv[:1], verbosity=0)
