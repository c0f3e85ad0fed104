#!/usr/bin/env python3
"""The package tyto: runs, comparisons and machines as objects, kernels on NumPy arrays, schedulers in Python,
and no misuse of it ends the process.

usage: test_python.py TYTO ROOT CARELESS
"""
import concurrent.futures
import copy
import gc
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

TYTO, ROOT, CARELESS = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
try:
    import cffi  # noqa: F401
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
os.environ.update(TYTO=str(TYTO), MPLBACKEND="Agg")
os.environ.pop("TYTO_OPTIONS", None)
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]
from tyto_runs import DEFAULT_MACHINE  # noqa: E402 (found by the line above)
import tyto  # noqa: E402 (found by the line above)

SAXPY = ROOT / "tests" / "cli" / "saxpy.ptx"
SUM = """
.version 7.5
.target sm_75
.address_size 64
.visible .entry sum(.param .u64 out, .param .u64 in, .param .f32 scale, .param .u32 n) {
  .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %p;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.f32 %f1, [scale]; ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r5; @%p ret;
  mul.wide.u32 %d3, %r4, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2]; ld.global.f32 %f3, [%d1]; fma.rn.f32 %f3, %f1, %f2, %f3; st.global.f32 [%d1], %f3;
  ret;
}
"""


def have(*modules):
    import importlib.util

    return all(importlib.util.find_spec(module) for module in modules)


def plain(text):
    """C source without comments, with each run of white space as one space."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = text.replace("TYTO_MAX_SCHEDULERS", "4").replace("TYTO_MAX_WARPS", "64").replace("TYTO_MAX_CTAS", "32")
    text = text.replace(" TYTO_BY_ACCESSOR", "")
    return re.sub(r"\s+", " ", re.sub(r"(?m)^#.*$", "", text))


class Declarations(unittest.TestCase):
    def test_declarations_are_those_of_the_headers(self):
        headers = plain("".join(path.read_text(encoding="utf-8") for path in (ROOT / "include" / "tyto").glob("*y*.h")))
        headers += plain((ROOT / "python" / "bridge.c").read_text(encoding="utf-8").replace("POLICIES", "64"))
        ours = (ROOT / "python" / "tyto" / "declarations.h").read_text(encoding="utf-8")
        declared = re.findall(r"(?ms)^(?:typedef (?:enum|struct) \w+ \{.*?^\} \w+;|[^ }].*?;)$", ours)
        self.assertGreater(len(declared), 30)
        for one in declared:
            if "tyto_bridge;" not in one and "free(void" not in one:
                self.assertTrue(plain(one).strip() in headers, f"{one}\nis not so in the headers")


class Runs(unittest.TestCase):
    def test_a_run_has_the_counters_of_the_command(self):
        run = tyto.run("vecadd", machine="owl", scheduler="gto", size=1000)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([TYTO, "run", "--quiet", "--json", "run.json", "--machine", "owl", "--scheduler", "gto", "vecadd",
                            "--size", "1000"], cwd=folder, check=True, capture_output=True)
            total = json.loads((pathlib.Path(folder) / "run.json").read_text(encoding="utf-8"))["total"]
        self.assertEqual(dict(run), total)
        self.assertEqual((run.machine, run.scheduler, len(run.kernels)), ("owl", "gto", 1))
        self.assertIn("1000 sums verified", run.output)
        self.assertIn("cycles", repr(run))

    def test_what_checks_find_is_part_of_the_result(self):
        run = tyto.run(CARELESS, arguments=["leak_in_loop"], options=["--check", "leak", "--functional"])
        self.assertEqual([(error["check"], error["count"]) for error in run.errors], [("leak", 2)])
        self.assertEqual(tyto.run("vecadd", size=100, options=["--check", "race"]).errors, [])

    def test_a_program_s_own_status_is_no_finding(self):
        with self.assertRaises(tyto.TytoError):
            tyto.run("/bin/sh", arguments=["-c", f"'{CARELESS}' right; exit 3"])

    def test_values_of_the_machine_can_be_changed(self):
        few = tyto.run("vecadd", machine="owl", size=20000, set={"gpu.sms": 2, "oracle.perfect_l1": False})
        self.assertGreater(few["cycles"], tyto.run("vecadd", machine="owl", size=20000)["cycles"])

    def test_the_command_s_mistakes_are_exceptions_with_its_words(self):
        for words, part in (({"machine": "owll"}, "did you mean 'owl'"), ({"scheduler": "gta"}, "did you mean 'gto'"),
                            ({"set": {"l1d.siz": "1KiB"}}, "l1d.size"), ({"size": -3}, "-3"),
                            ({"options": ["--bogus"]}, "--bogus"), ({"options": ["--json", "x"]}, "because it returns the result")):
            with self.assertRaises(tyto.TytoError) as caught:
                tyto.run("vecadd", **words)
            self.assertIn(part, str(caught.exception))
        with self.assertRaisesRegex(tyto.TytoError, "no-such-program"):
            tyto.run("no-such-program")
        with self.assertRaisesRegex(tyto.TytoError, "list of words"):
            tyto.run("vecadd", arguments="--size 3")
        with self.assertRaisesRegex(tyto.TytoError, "in its own process"):
            tyto.run("vecadd", scheduler=RoundRobin)

    def test_what_is_not_known_is_none_and_what_is_no_counter_is_told(self):
        timed, functional = (tyto.run("vecadd", size=64, options=options) for options in ([], ["--functional"]))
        for name in tyto.counters():
            self.assertEqual(functional[name] is None, name not in functional, name)
            self.assertIn(name, timed)
        self.assertIsNone(functional["cycles"])
        self.assertGreater(functional["warp_instructions"], 0)
        for run in (timed, functional):
            for name, told in (("cycls", "cycls: there is no such counter; did you mean 'cycles'"), ("", "no such counter; tyto.counters"),
                               ("a quite other thing", "tyto.counters() lists them all"), (3, "3: there is no such counter"),
                               ("cy\0cles", "no such counter"), ("\ud800", "no such counter")):
                with self.assertRaises(KeyError) as caught:
                    run[name]
                self.assertIn(told, str(caught.exception))

    def test_a_comparison_is_measured_by_its_first(self):
        both = tyto.compare("bfs", ["lrr", "gto"], machine="ccws", size=2000)
        self.assertEqual(both.labels, ["lrr", "gto"])
        self.assertEqual(both.speedup()["gto"], both["lrr"]["cycles"] / both["gto"]["cycles"])
        self.assertIn("scheduler cycles", str(both))
        with self.assertRaisesRegex(KeyError, "only lrr, gto"):
            both["pro"]
        with self.assertRaisesRegex(tyto.TytoError, "list of names"):
            tyto.compare("bfs", "lrr,gto")
        with self.assertRaisesRegex(tyto.TytoError, "the list is empty"):
            tyto.compare("bfs", [])

    @unittest.skipUnless(have("pandas"), "pandas is not installed")
    def test_results_become_frames(self):
        both = tyto.compare("bfs", ["lrr", "gto"], machine="ccws", size=2000)
        frame = both.frame()
        self.assertEqual(list(frame.index), ["lrr", "gto"])
        self.assertEqual(frame.loc["gto", "cycles"], both["gto"]["cycles"])
        self.assertEqual(frame.loc["lrr", "speedup"], 1)
        self.assertEqual(len(both["gto"].frame()), len(both["gto"].kernels))
        self.assertIn("origin", tyto.machine("owl").frame().columns)

    @unittest.skipUnless(have("matplotlib"), "matplotlib is not installed")
    def test_plots_have_units_and_begin_at_zero_or_one(self):
        both = tyto.compare("bfs", ["lrr", "gto"], machine="ccws", size=2000)
        axes = both.plot("l1d_misses")
        self.assertEqual(axes.get_ylabel(), f"l1d_misses ({tyto.counters()['l1d_misses'].unit})")
        self.assertEqual([bar.get_y() for bar in axes.patches], [0, 0])
        axes = both.plot()
        self.assertEqual([bar.get_y() for bar in axes.patches], [1, 1])
        self.assertAlmostEqual(axes.patches[1].get_height(), both.speedup()["gto"] - 1)
        low, high = tyto.compare("vecadd", ["gto", "lrr"], machine="owl", size="test").plot().get_ylim()  # lrr is 1% slower
        self.assertLessEqual(low, 0.9)
        self.assertGreaterEqual(high, 1)
        with self.assertRaisesRegex(KeyError, "no such counter"):
            both.plot("cycls")

    def test_without_pandas_and_matplotlib_all_else_works(self):
        code = ("import sys; sys.modules['pandas'] = sys.modules['matplotlib'] = None\n"
                "import tyto; print(tyto.run('vecadd', size=64)['thread_instructions'] > 0)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))


@unittest.skipUnless("sweep" in subprocess.run([TYTO, "--help"], capture_output=True, text=True, check=False).stdout,
                     "this tyto has no sweep")
class Sweeps(unittest.TestCase):
    def test_a_sweep_has_a_row_for_each_combination(self):
        with tempfile.TemporaryDirectory() as folder:
            ways = {"schedulers": ["lrr", "gto"], "set": {"l1d.size": ["16KiB", "32KiB"]}, "machines": "ccws", "sizes": "test",
                    "database": pathlib.Path(folder) / "runs.sqlite"}
            runs = tyto.sweep(["vecadd", "spmv"], **ways)
            self.assertEqual(len(runs), 8)
            self.assertEqual(len({(row["program"], row["scheduler"], row["l1d.size"]) for row in runs.rows}), 8)
            self.assertEqual(tyto.sweep(["vecadd", "spmv"], options=["--stored"], **ways).rows, runs.rows)
            if have("matplotlib"):
                axes = tyto.sweep("spmv", **ways).plot("l1d.size", "ipc")
                self.assertEqual([line.get_label() for line in axes.lines], ["lrr", "gto"])
                self.assertEqual([line.get_linestyle() for line in axes.lines], ["-", "-"])
                axes = tyto.sweep("spmv", **{**ways, "machines": ["owl", "ccws"], "set": {}}).plot("machine", "ipc")
                self.assertEqual([line.get_linestyle() for line in axes.lines], ["None", "None"])  # no values between two machines

    def test_a_sweep_s_mistakes_are_exceptions(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(tyto.TytoError, "gto"):
            tyto.sweep("vecadd", schedulers=["gta"], database=pathlib.Path(folder) / "runs.sqlite")


class Machines(unittest.TestCase):
    def test_every_machine_has_every_value_with_its_origin(self):
        page = (ROOT / "docs" / "machine-parameters.md").read_text(encoding="utf-8")
        page = page[:page.index("\n## constants")]  # which tyto.machines does not list
        keys = set(re.findall(r"(?m)^\| `([a-z_]\w*\.[\w.]+)`", page))
        self.assertGreater(len(keys), 150)
        self.assertLessEqual({path.stem for path in (ROOT / "machines").glob("*.yaml")}, set(tyto.machines()))
        for name, title in tyto.machines().items():
            machine = tyto.machine(name)
            self.assertEqual((machine.name, machine.title), (name, title))
            self.assertEqual(keys - set(machine), set())
            self.assertEqual([key for key, value in machine.items() if not value.origin], [])

    def test_changed_values_are_shown_and_wrong_ones_told(self):
        self.assertEqual(tyto.machine("owl", set={"l1d.size": "64KiB"})["l1d.size"].text, "64 KiB")
        self.assertEqual(tyto.machine("owl")["l1d.line"].origin, "OWL table 1")
        with self.assertRaisesRegex(tyto.TytoError, "did you mean"):
            tyto.machine("owl", set={"l1d.sice": "64KiB"})
        with self.assertRaisesRegex(tyto.TytoError, "a mapping"):
            tyto.machine("owl", set="l1d.size=1KiB")
        with self.assertRaisesRegex(tyto.TytoError, "^no machine 'none'.*[^\n]\\Z"):
            tyto.machine("none")
        with self.assertRaisesRegex(KeyError, "no such key"):
            tyto.machine("owl")["l1d.sice"]


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = tyto.Kernel(SUM, machine="gtx480")

    def arrays(self, count=1000):
        return numpy.arange(count, dtype=numpy.float32), numpy.full(count, 3, dtype=numpy.float32)

    def test_a_kernel_computes_on_arrays(self):
        out, given = self.arrays()
        launch = self.kernel(out, tyto.In(given), 2.0, 1000, grid=8, block=128)
        numpy.testing.assert_array_equal(out, numpy.arange(1000, dtype=numpy.float32) + 6)
        self.assertGreater(launch["cycles"], 0)
        self.assertEqual(launch["kernel"], "sum")
        again = self.kernel(out, tyto.In(given), numpy.float32(-2), numpy.int64(1000), grid=(8, 1), block=[128, 1, 1])
        numpy.testing.assert_array_equal(out, numpy.arange(1000, dtype=numpy.float32))
        self.assertEqual(again["warp_instructions"], launch["warp_instructions"])

    def test_what_is_given_as_in_is_not_copied_back(self):
        out, given = self.arrays()
        self.kernel(tyto.In(out), given, 1.0, 1000, grid=8, block=128)
        numpy.testing.assert_array_equal(out, numpy.arange(1000, dtype=numpy.float32))

    def test_one_array_given_twice_is_one_array(self):
        out, _ = self.arrays()
        self.kernel(out, out, 1.0, 1000, grid=8, block=128)
        numpy.testing.assert_array_equal(out, 2 * numpy.arange(1000, dtype=numpy.float32))

    def refused(self, part, *arguments, **more):
        with self.assertRaises(tyto.TytoError) as caught:
            self.kernel(*arguments, **{"grid": 1, "block": 32, **more})
        self.assertIn(part, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_a_bad_argument_is_told_in_one_line(self):
        out, given = self.arrays()
        frozen = given.copy()
        frozen.flags.writeable = False
        for part, bad in (("argument 0 (out): the array is not contiguous", out[::2]),
                          ("dtype object", numpy.array([None, "x"])), ("dtype <U1", numpy.array(["a"])),
                          ("big-endian", out.astype(">f4")), ("no elements", out[:0]), ("read-only; pass tyto.In", frozen),
                          ("not str", "abc"), ("not list", [1, 2]), ("not NoneType", None),
                          ("does not fit into .u64", -2.5), ("does not fit into .u64", 1 << 64),
                          ("In takes a NumPy array", tyto.In(3))):
            self.refused(part, bad, given, 1.0, 32)
        self.refused("the parameter is .f32", out, given, given, 32)
        self.refused("does not fit into .u32", out, given, 1.0, 1 << 40)
        self.refused("does not fit into .u32", out, given, 1.0, float("nan"))
        self.refused("takes 4 arguments (.u64 out, .u64 in, .f32 scale, .u32 n), got 2", out, given)
        for grid in (0, -1, (1, 2, 3, 4), "8", 1.5, (), True, 1 << 33):
            self.refused("grid: ", out, given, 1.0, 32, grid=grid)
        for shared_bytes in (-1, 1 << 32, 1.0, "8", numpy.int64(-1), None):
            self.refused("shared_bytes", out, given, 1.0, 32, shared_bytes=shared_bytes)
        launch = self.kernel(out, given, 1.0, 32, grid=1, block=32, shared_bytes=numpy.int64(1024))
        self.assertEqual(launch["shared_bytes"], 1024)
        self.refused("block", out, given, 1.0, 32, block=4096)

    def test_a_number_fits_as_with_launch_and_numpy_numbers_keep_their_bits(self):
        n = numpy
        for kind, size, fit, unfit in ((".u32", 4, (0, 2**32 - 1, 3.0, True, n.int32(-1), n.uint8(7), n.array(-1, n.int32)),
                                        (-1, 2**32, -1.0, n.int8(-1), n.int64(-1))),
                                       (".s32", 4, (-2**31, 2**31 - 1, -1.0, n.int8(-1), n.int64(-1), n.uint32(2**32 - 1)),
                                        (2**31, -2**31 - 1, n.int64(2**31))),
                                       (".b32", 4, (-2**31, 2**32 - 1), (-2**31 - 1, 2**32)),
                                       (".u64", 8, (2**64 - 1, n.int64(-1)), (-1, 2**64, n.int32(-1))),
                                       (".s64", 8, (-2**63, n.uint64(2**64 - 1)), (2**63,)),
                                       (".u8", 1, (255, n.int8(-1)), (-1, 256)), (".s16", 2, (-2**15,), (2**15,))):
            bits = 8 * size
            kernel = tyto.Kernel(f""".version 8.0\n.target sm_70\n.address_size 64
                .visible .entry copy(.param .u64 to, .param {kind} n) {{ .reg .b64 %d<3>; .reg .b{max(bits, 16)} %n;
                ld.param.u64 %d1, [to]; ld.param.b{bits} %n, [n]; st.global.b{bits} [%d1], %n; ret; }}""")
            for number in fit:
                got = n.zeros(1, f"u{size}")
                kernel(got, number, grid=1, block=1)
                self.assertEqual(int(got[0]), int(number) % 2**bits, (kind, number))
            for number in unfit:
                with self.assertRaisesRegex(tyto.TytoError, rf"^copy: argument 1 \(n\): .* does not fit into \{kind}"):
                    kernel(n.zeros(1, f"u{size}"), number, grid=1, block=1)
        out, given = self.arrays()
        self.refused("-1 does not fit into .u32; numpy.int32(-1) gives its bits", out, given, 1.0, -1)

    def test_a_finite_number_does_not_become_infinite(self):
        n = numpy
        for kind, bits, fit, unfit in ((".f16", 16, (65504, 65519.0, n.inf, -n.inf, n.float64(1e-30), n.nan), (65520, -65520.0, 1e300)),
                                       (".f32", 32, (3.4028235e38, 1, -n.inf, n.float64(n.inf), 1e-300, n.nan),
                                        (1e300, -1e39, n.float64(1e300), n.array(1e300), 10**39)),
                                       (".f64", 64, (1e300, n.inf, n.nan), (10**400,))):
            kernel = tyto.Kernel(f""".version 8.0\n.target sm_70\n.address_size 64
                .visible .entry copy(.param .u64 to, .param {kind} x) {{ .reg .b64 %d<3>; .reg .b{bits} %x;
                ld.param.u64 %d1, [to]; ld.param.b{bits} %x, [x]; st.global.b{bits} [%d1], %x; ret; }}""")
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for number in fit:
                    got = n.zeros(1, f"f{bits // 8}")
                    kernel(got, number, grid=1, block=1)
                    n.testing.assert_array_equal(got, n.array([number]).astype(got.dtype))
                for number in unfit:
                    with self.assertRaisesRegex(tyto.TytoError, rf"^copy: argument 1 \(x\): .* does not fit into \{kind}$"):
                        kernel(n.zeros(1, f"f{bits // 8}"), number, grid=1, block=1)

    def test_an_array_that_is_too_small_fails_with_the_place_and_nothing_else_is_lost(self):
        for count in (1000, 1024):  # the second ends where the next array may begin
            out, given = self.arrays(count)
            with self.assertRaises(tyto.TytoError) as caught:
                self.kernel(out, given, 1.0, 1 << 20, grid=16, block=128)
            self.assertEqual(caught.exception.status, "kernel failed")
            self.assertIn("ptx:", str(caught.exception))
        out, given = self.arrays()
        self.kernel(out, given, 0.0, 1000, grid=8, block=128)
        numpy.testing.assert_array_equal(out, numpy.arange(1000, dtype=numpy.float32))

    def test_bad_ptx_and_bad_names_are_told(self):
        with self.assertRaisesRegex(tyto.TytoError, r"ptx:\d+:\d+: error"):
            tyto.Kernel(SUM.replace("%d3, %r4, 4", "%d3, %r44, 4"))
        with self.assertRaisesRegex(tyto.TytoError, "there is no kernel 'product', only sum"):
            tyto.Kernel(SUM, "product")
        with self.assertRaisesRegex(tyto.TytoError, "cannot read it"):
            tyto.Kernel("no-such-file.ptx")
        with self.assertRaisesRegex(tyto.TytoError, "not int"):
            tyto.Kernel(3)
        with self.assertRaisesRegex(tyto.TytoError, "zero byte"):
            tyto.Kernel(SUM + "\0\n")
        with self.assertRaisesRegex(tyto.TytoError, "did you mean"):
            tyto.Kernel(SUM, machine="gtx48")
        self.assertEqual(tyto.Kernel(SAXPY).name, "saxpy")

    def test_a_closed_simulator_is_told(self):
        with tyto.Simulator() as simulator:
            kernel = tyto.Kernel(SUM, simulator=simulator)
        simulator.close()
        out, given = self.arrays()
        for call in (lambda: kernel(out, given, 1.0, 1, grid=1, block=32), simulator.results,
                     lambda: tyto.Kernel(SUM, simulator=simulator)):
            with self.assertRaisesRegex(tyto.TytoError, "closed"):
                call()

    def test_a_launch_is_what_the_report_of_all_has_of_it(self):
        for options in ([], ["--functional"], ["--skip", "1"]):
            with tyto.Simulator("owl", options=options) as simulator:
                kernel = tyto.Kernel(SUM, simulator=simulator)
                out, given = self.arrays()
                launches = [kernel(out, given, 1.0, 100 * n, grid=n, block=128) for n in (1, 3, 2)]
                everything = simulator.results("sum")
                self.assertEqual([launch.total for launch in launches], everything.kernels)
                self.assertEqual([launch.kernels for launch in launches], [[one] for one in everything.kernels])
                for launch in launches:
                    self.assertEqual(set(launch.report), set(everything.report))
                    for key in set(launch.report) - {"kernels", "total", "host", "untimed"}:
                        self.assertEqual(launch.report[key], everything.report[key], key)

    def test_kernels_that_are_gone_leave_nothing_behind(self):
        variables = "".join(f".global .align 4 .b8 big{i}[67108864];\n" for i in range(4))
        with tyto.Simulator(options=["--functional", "--memory", "600MiB"]) as simulator:
            out, given = self.arrays()
            for _ in range(4):  # of 256 MiB each
                kernel = tyto.Kernel(SUM.replace(".visible", variables + ".visible"), simulator=simulator)
                kernel(out, tyto.In(given), 1.0, 32, grid=1, block=32)
                del kernel
            self.assertEqual(out[0], 12)
            with self.assertRaises(tyto.TytoError):
                tyto.Kernel(SUM, "product", simulator=simulator)
            self.assertEqual(len(simulator.results().kernels), 4)
            self.assertEqual(len(simulator._unused), 0)

    def test_simulators_do_not_know_of_each_other(self):
        out, given = self.arrays()
        kernels = [tyto.Kernel(SUM, machine=machine) for machine in ("owl", "gtx480", "owl")]
        cycles = [kernel(out, tyto.In(given), 0.0, 1000, grid=8, block=128)["cycles"] for kernel in kernels]
        self.assertEqual(cycles[0], cycles[2])
        self.assertEqual(len(kernels[0].simulator.results().kernels), 1)


class RoundRobin(tyto.Scheduler):
    """A copy of the library's lrr."""

    def start(self, sm):
        self.last = [-1] * sm.schedulers

    def pick(self, sm, scheduler, ready):
        return sm.next(ready, self.last[scheduler])

    def issued(self, sm, issue):
        self.last[issue.scheduler] = issue.warp


def launched(scheduler, **more):
    kernel = tyto.Kernel(SUM, machine="owl", scheduler=scheduler, set={"gpu.sms": 2}, **more)
    out, given = numpy.zeros(4096, dtype=numpy.float32), numpy.ones(4096, dtype=numpy.float32)
    launch = kernel(out, tyto.In(given), 1.0, 4096, grid=16, block=256)
    return dict(launch), out


class Schedulers(unittest.TestCase):
    def test_round_robin_in_python_counts_as_the_library_s(self):
        python, out = launched(RoundRobin)
        library, _ = launched("lrr")
        self.assertEqual(python, library)
        numpy.testing.assert_array_equal(out, numpy.ones(4096, dtype=numpy.float32))

    def test_an_object_in_the_place_of_its_class_is_refused(self):
        with self.assertRaisesRegex(tyto.TytoError, "scheduler: pass the class RoundRobin"):
            launched(RoundRobin())

    def test_events_are_those_asked_for(self):
        heard = []

        class Listener(RoundRobin):
            events = ("cta_launched", "warp_finished", "l1d_miss")

            def event(self, sm, event):
                heard.append(event)

        launched(Listener)
        self.assertEqual({event.kind for event in heard}, set(Listener.events))
        self.assertEqual(sum(event.kind == "warp_finished" for event in heard), 16 * 8)
        ctas = [event for event in heard if event.kind == "cta_launched"]
        self.assertEqual([len(list(tyto.warps(event.warps))) for event in ctas], [8] * 16)

    def test_branches_and_loads_are_told_with_their_pc(self):
        branches, issues, misses = [], [], []

        class Listener(RoundRobin):
            events = ("branch", "l1d_miss")

            def event(self, sm, event):
                (branches if event.kind == "branch" else misses).append(event)

            def issued(self, sm, issue):
                super().issued(sm, issue)
                if issue.is_load:
                    issues.append(issue.pc)

        counted, _ = launched(Listener)
        self.assertEqual(len(branches), counted["branches"])
        self.assertEqual(sum(event.is_divergent for event in branches), counted["divergent_branches"])
        self.assertTrue(misses and {event.pc for event in misses} <= set(issues))

    def test_a_policy_bypasses_the_l1d_and_prefetches_into_it(self):
        fates = []

        class Bypass(RoundRobin):
            def insert(self, sm, miss):
                return "bypass"

        class NextLine(RoundRobin):
            events = ("l1d_miss", "prefetch_sent", "prefetch_used", "prefetch_dropped")

            def event(self, sm, event):
                if event.kind == "l1d_miss":
                    sm.prefetch(event.address + sm.line_bytes, tag=7)
                else:
                    fates.append((event.kind, event.tag))

        class Wrong(RoundRobin):
            def insert(self, sm, miss):
                return "nowhere"

        plain, _ = launched(RoundRobin)
        self.assertEqual(launched(Bypass)[0]["l1d_evictions"], 0)
        self.assertGreater(launched(NextLine)[0]["l1d_fills"], 0)
        self.assertTrue({tag for _, tag in fates} == {7} and any(kind == "prefetch_sent" for kind, _ in fates))
        self.assertGreater(plain["l1d_misses"], 0)
        with self.assertRaisesRegex(tyto.TytoError, "insert chose 'nowhere'"):
            launched(Wrong)

    def test_a_warp_may_be_a_number_of_numpy(self):
        class Counting(RoundRobin):
            def pick(self, sm, scheduler, ready):
                warp = numpy.int64(super().pick(sm, scheduler, numpy.uint64(ready)))
                return warp if sm.warp[warp].age >= 0 else None

            def issued(self, sm, issue):
                self.last[issue.scheduler] = numpy.int64(issue.warp)

        self.assertEqual(launched(Counting)[0], launched("lrr")[0])

    def test_python_s_mistakes_reach_the_caller(self):
        class Broken(RoundRobin):
            def pick(self, sm, scheduler, ready):
                return 1 // 0

        class Wrong(RoundRobin):
            def pick(self, sm, scheduler, ready):
                return 63

        class Vast(RoundRobin):
            def pick(self, sm, scheduler, ready):
                return 1 << 70

        class Half(RoundRobin):
            def pick(self, sm, scheduler, ready):
                return 0.5

        class Stopped(RoundRobin):
            def issued(self, sm, issue):
                raise KeyboardInterrupt

        class Unborn(RoundRobin):
            def start(self, sm):
                raise ValueError("not today")

        class Deaf(RoundRobin):
            events = ("thunder",)

        class Idle(tyto.Scheduler):
            pass

        for scheduler, error, part in ((Idle, NotImplementedError, "Idle has no method pick"), (Broken, ZeroDivisionError, "division"), (Wrong, tyto.TytoError, "not one of the ready warps"),
                                       (Vast, tyto.TytoError, "not one of the ready warps"), (Half, tyto.TytoError, "chose 0.5, which is not one"),
                                       (Stopped, KeyboardInterrupt, ""), (Unborn, ValueError, "not today"),
                                       (Deaf, tyto.TytoError, "no event 'thunder'"),
                                       (lambda: 3, AttributeError, "start")):
            with self.assertRaisesRegex(error, part):
                launched(scheduler)

    def test_a_simulator_goes_on_after_a_mistake(self):
        class Moody(RoundRobin):
            mood = ["bad"]

            def pick(self, sm, scheduler, ready):
                if self.mood:
                    raise ValueError(self.mood.pop())
                return super().pick(sm, scheduler, ready)

        kernel = tyto.Kernel(SUM, scheduler=Moody)
        out, given = numpy.zeros(64, dtype=numpy.float32), numpy.ones(64, dtype=numpy.float32)
        with self.assertRaisesRegex(ValueError, "bad"):
            kernel(out, given, 1.0, 64, grid=1, block=64)
        kernel(out, given, 1.0, 64, grid=1, block=64)
        self.assertEqual(out.sum(), 64)

    def asked(self, ask):
        """Makes a scheduler call ask(simulator, kernel) at its first pick."""
        asks = [ask]

        class Asking(RoundRobin):
            def pick(self, sm, scheduler, ready):
                if asks:
                    asks.pop()(simulator, kernel)
                return super().pick(sm, scheduler, ready)

        with tyto.Simulator(scheduler=Asking, options=["--threads", "2"]) as simulator:
            kernel = tyto.Kernel(SUM, simulator=simulator)
            self.run_on(kernel)

    def run_on(self, kernel):
        out = numpy.zeros(64, dtype=numpy.float32)
        kernel(out, tyto.In(out), 1.0, 64, grid=2, block=32)

    def test_a_scheduler_cannot_call_the_simulator_that_asks_it(self):
        def through_another(simulator, kernel):
            class Between(RoundRobin):
                def pick(self, sm, scheduler, ready):
                    kernel.simulator.results()

            self.run_on(tyto.Kernel(SUM, scheduler=Between))

        for ask in (lambda simulator, kernel: simulator.close(), lambda simulator, kernel: simulator.results(),
                    lambda simulator, kernel: self.run_on(kernel),
                    lambda simulator, kernel: tyto.Kernel(SUM, simulator=simulator), through_another):
            with self.assertRaisesRegex(tyto.TytoError, "while it schedules a launch"):
                self.asked(ask)
        self.asked(lambda simulator, kernel: self.run_on(tyto.Kernel(SUM)))  # another simulator is allowed

    def test_a_simulator_is_not_closed_in_the_middle_of_a_launch(self):
        def close(simulator, _):
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                other.submit(simulator.close).result()

        with self.assertRaisesRegex(tyto.TytoError, "cannot be closed while a call is under way"):
            self.asked(close)

    def test_a_view_ends_with_the_call_that_it_was_given_to(self):
        kept, seen = [], []

        class Keeping(RoundRobin):
            def pick(self, sm, scheduler, ready):
                first = next(tyto.warps(ready))
                seen.append((sm.warp[first].instructions, len(sm.warp), len(sm.cta), len(sm.older), len(sm.scheduler_warps)))
                kept.extend((sm, sm.warp[first]))
                return super().pick(sm, scheduler, ready)

        launched(Keeping)
        gc.collect()
        self.assertEqual(seen[0], (0, 64, 32, 64, 4))
        sm, row = kept[:2]
        for read in (lambda: sm.cycle, lambda: sm.oldest(1), lambda: sm.older, lambda: sm.warp[0].age, lambda: row.age):
            with self.assertRaisesRegex(tyto.TytoError, "keep the values instead of the view"):
                read()
        with self.assertRaisesRegex(TypeError, "cannot be copied"):
            copy.copy(sm)

    def test_numbers_of_policies_come_back(self):
        gc.collect()
        held = [tyto.Simulator(scheduler=RoundRobin) for _ in range(64)]
        with self.assertRaisesRegex(tyto.TytoError, "at most 64"):
            tyto.Simulator(scheduler=RoundRobin)
        held.clear()
        gc.collect()
        tyto.Simulator(scheduler=RoundRobin).close()


class Packaging(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_the_types_hold(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["mypy", "--cache-dir", folder, "--config-file", "pyproject.toml", "tyto"],
                                  capture_output=True, text=True, check=False, cwd=ROOT / "python")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_module_that_is_missing_is_told_with_its_package(self):
        for module, package, use in (("numpy", "python3-numpy", ""), ("cffi", "python3-cffi", ""),
                                     ("pandas", "python3-pandas", "; tyto.machine('owl').frame()")):
            code = f"import sys; sys.modules['{module}'] = None; import tyto{use}"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
            self.assertIn(f"needs the module {module}: install Debian's package {package}, or pip install {module}", done.stderr)

    @unittest.skipUnless(have("pip", "venv"), "pip or venv is not installed")
    def test_pip_installs_it_into_a_clean_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info"))
            clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
            python = folder / "venv" / "bin" / "python"
            for words in ([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", folder / "venv"],
                          [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index",
                           "--no-deps", "--root-user-action", "ignore", folder / "python"]):
                done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=clean)
                self.assertEqual(done.returncode, 0, done.stderr)
            code = ("import tyto; print(tyto.__file__); print(tyto.run('vecadd', size=64).machine);"
                    "print(len(tyto.machines()) > 4)")
            done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False, cwd="/", env=clean)
            self.assertEqual(done.stderr, "")
            where, machine, is_there = done.stdout.split()
            self.assertTrue(where.startswith(str(folder / "venv")))
            self.assertEqual((machine, is_there), (DEFAULT_MACHINE, "True"))

    @unittest.skipUnless("Packaging" in sys.argv, "takes a minute: make nightly names it")
    @unittest.skipUnless(all(map(shutil.which, ("dpkg-buildpackage", "dh_python3", "pybuild"))),
                         "debhelper, dh-python or pybuild-plugin-pyproject is not installed")
    def test_debian_s_tools_make_a_package_that_asks_for_what_it_imports(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info"))
            plain = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}  # (Debian's python3, even if another one is installed)
            done = subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc"], cwd=folder / "python", env=plain, check=False,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            package = next(folder.glob("python3-tyto_*_all.deb"))
            needs = subprocess.run(["dpkg", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
            self.assertLessEqual({"python3-cffi", "python3-numpy"}, set(needs.strip().split(", ")))
            subprocess.run(["dpkg", "-x", package, folder / "root"], check=True)
            module = next((folder / "root" / "usr" / "lib" / "python3" / "dist-packages").glob("tyto/__init__.py"))
            where = subprocess.run([sys.executable, "-c", "import tyto; print(tyto.__file__, len(tyto.machines()) > 4)"],
                                   capture_output=True, text=True, check=False, cwd="/",
                                   env={**os.environ, "PYTHONPATH": str(module.parent.parent)})
            self.assertEqual((where.stdout.split(), where.stderr), ([str(module), "True"], ""))

    def test_the_package_has_the_version_of_the_library(self):
        meson = (ROOT / "meson.build").read_text(encoding="utf-8")
        self.assertIn(f"version: '{tyto.__version__}'", meson)


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False).result
    bad, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(bool(bad))
