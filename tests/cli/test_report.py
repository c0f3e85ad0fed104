#!/usr/bin/env python3
"""tyto report: the content of its page, and how a browser shows it.

usage: test_report.py TYTO

TYTO is the command in its build folder. Tests that need a browser are skipped if Chromium is not installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TYTO = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;\u2028"

# Imitates a reader: clicks, and collects what is visible. The answer replaces the page's content.
READER = """<script>{
const answer = {sections: [...document.querySelectorAll("section")].map((each) => each.id),
                pictures: [...document.querySelectorAll("figure svg")].filter((each) => each.getBoundingClientRect().width > 100).length,
                unnamed: document.querySelectorAll("figure svg:not([aria-label])").length,
                title: document.querySelector("h1").textContent, wide: document.documentElement.scrollWidth};
const runs = document.querySelector("#runs table");
if (runs) {
  const first = () => runs.querySelector("tbody td").textContent, heading = runs.querySelectorAll("th")[1];
  answer.unsorted = first();
  heading.querySelector("button").click();
  answer.most = first(); answer.down = heading.getAttribute("aria-sort");
  heading.querySelector("button").click();
  answer.least = first(); answer.up = heading.getAttribute("aria-sort");
}
/* after */
const source = document.querySelector("#source table");
if (source) answer.source = [...source.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
document.body.replaceChildren(Object.assign(document.createElement("pre"), {id: "answer", textContent: JSON.stringify(answer)}));
}</script>"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def tyto(self, *words, status=0):
        done = subprocess.run([TYTO, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.path,
                              env=PLAIN, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def run_of(self, name, scheduler, *words):
        words = words if "--machine" in words else ("--machine", "gtx480", *words)
        self.tyto("run", "--quiet", "--profile", "--sample", "200", "--ctas", "ctas.csv", "--json", name,
                  "--scheduler", scheduler, *words, "reduction", "--size", "4096")
        return json.loads((self.path / name).read_text())

    def read(self, width=1200, after=""):
        """What a reader of report.html sees; `after` adds to the answer."""
        page = self.path / "read.html"
        page.write_text((self.path / "report.html").read_text() + READER.replace("/* after */", after))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
                               f"--user-data-dir={self.path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
                              capture_output=True, text=True, check=False, timeout=120)
        found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.S)
        self.assertIsNotNone(found, done.stdout[-2000:] + done.stderr[-2000:])
        text = found.group(1)
        for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            text = text.replace(entity, character)
        return json.loads(text), done.stdout


def with_units(run):
    """The run with counts of four SMs and of two channels of two banks, as --per-unit writes them."""
    counts = {"scheduler_cycles": 100, "issued": 40, "idle_no_warp": 60, "warp_instructions": 40, "ctas_launched": 2, "l1d_miss_rate": 0.25}
    bank = {"dram_row_hits": 30, "dram_row_misses": 2, "dram_row_conflicts": 8, "dram_activates": 10}
    return run | {"units": {"sms": [{"sm": i, **counts} for i in range(4)], "banks": [{"channel": i // 2, "bank": i % 2, **bank} for i in range(4)]}}


class Page(Case):
    def test_a_page_holds_its_data_and_asks_for_nothing(self):
        run = self.run_of("a.json", "gto")
        self.tyto("report", "a.json")
        page = (self.path / "report.html").read_text()
        held = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(held["documents"][0]["data"], run)
        self.assertIn("dram:", held["machines"]["gtx480"])
        self.assertIn("default-src 'none'", page)
        self.assertNotRegex(page, r'(src|href)="?(https?:)?//')

    def test_a_page_goes_to_standard_output(self):
        (self.path / "a.json").write_text('{"kernels": [], "total": {}}')
        self.assertRegex(self.tyto("report", "a.json").stdout, rf"^report\.html: \d\.\d MB; open it in a browser: file://{self.path.resolve()}/report\.html\n$")
        self.assertIn("</html>", self.tyto("report", "--output", "-", "a.json").stdout)

    def test_what_is_no_json_is_refused_with_its_place(self):
        for text, place in (("", "1:1"), ("{", "1:2"), ('{"a":\n 1,}', "2:4"), ("[1 2]", "1:4"), ("nul", "1:1"), ("01", "1:3"), ('"\\q"', "1:3"),
                            ('"\x01"', "1:2"), ("[" * 100, "1:65"), ("{} {}", "1:4"), ("1.", "1:3"), ("1e", "1:3"), ('{"a" 1}', "1:6"), ("[1", "1:3")):
            (self.path / "a.json").write_text(text)
            self.assertIn(f"a.json:{place}: not JSON: ", self.tyto("report", "a.json", status=1).stderr, text)
        self.assertFalse((self.path / "report.html").exists())
        self.tyto("report", "nowhere.json", status=1)
        self.tyto("report", status=2)

    def test_what_holds_no_run_is_refused(self):
        for text in ("{}", "[]", '{"runs": []}', '{"total": {}}', '"\\"kernels\\": \\"total\\":"'):
            (self.path / "a.json").write_text(text)
            self.assertIn("a.json has no results: a report needs files that tyto run,", self.tyto("report", "a.json", status=1).stderr, text)
        self.assertFalse((self.path / "report.html").exists())

    def test_names_cannot_leave_the_data(self):
        (self.path / "a.json").write_text(json.dumps({"program": HOSTILE, HOSTILE: 1, "kernels": [], "total": {}}, ensure_ascii=False))
        (self.path / "b.csv").write_text(f'experiment,size,row,column,ours,published,verdict,place\n{HOSTILE},test,r,c,1,2,,\n')
        self.tyto("report", "a.json", "b.csv")
        page = (self.path / "report.html").read_text()
        data = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
        self.assertNotIn("<", data)
        self.assertEqual(json.loads(data)["documents"][0]["data"]["program"], HOSTILE)
        self.assertIn(HOSTILE, json.loads(data)["documents"][1]["text"])


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Browser(Case):
    def test_a_comparison_shows_every_section(self):
        first = self.run_of("a.json", "gto", "--source-path", ROOT)
        other = self.run_of("b.json", "lrr", "--set", "l1d.mshrs=2")
        self.tyto("report", "a.json", "b.json")
        seen, _ = self.read()
        self.assertEqual(seen["sections"], ["runs", "cycles", "time", "source", "limits", "roofline", "memory", "blocks", "kernels", "counters"])
        self.assertGreaterEqual(seen["pictures"], 13)
        self.assertEqual(seen["unnamed"], 0)
        self.assertEqual(seen["title"], "reduction on gtx480")
        slower = "lrr" if other["total"]["cycles"] > first["total"]["cycles"] else "gto"
        self.assertEqual([seen["unsorted"], seen["most"], seen["down"], seen["up"]], ["gto", slower, "descending", "ascending"])
        self.assertNotEqual(seen["least"], slower)
        self.assertTrue(any("kernel.cu:" in row[0] and row[3] for row in seen["source"]), seen["source"])

    def test_the_page_says_which_files_it_contains(self):
        after = "answer.contents = document.querySelector('#files').textContent;"
        run = self.run_of("a.json", "gto")
        module, sources = run["profile"][0]["module"], {row["source"] for kernel in run["profile"] for row in kernel["sources"]}
        self.assertTrue(sources)
        self.assertFalse([row for kernel in run["profile"] for row in kernel["sources"] if row["text"]])
        self.tyto("report", "a.json")
        self.assertEqual(self.read(after=after)[0]["contents"], f"This page contains lines of no source file; instructions of {module}.")
        run["profile"][0]["sources"][0].update(source="/x/a.cu", text="")
        (self.path / "a.json").write_text(json.dumps(run))
        self.tyto("report", "a.json")
        self.assertEqual(self.read(after=after)[0]["contents"], f"This page contains lines of /x/a.cu; instructions of {module}.")

    def test_each_kernel_has_its_limits(self):
        run = self.run_of("a.json", "gto")
        self.tyto("report", "a.json")
        seen, _ = self.read(after="""answer.told = [...document.querySelectorAll("#limits li")].map((each) => each.textContent);
            answer.rows = [...document.querySelectorAll("#limits tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));""")
        longest = max(run["kernels"], key=lambda kernel: kernel["cycles"])
        self.assertTrue(longest["advice"])
        self.assertEqual(seen["told"], [f"{told['rule']}: {told['text']}." for told in longest["advice"]])
        self.assertEqual(seen["rows"][0][3:5], [f"{100 * longest['occupancy']['theoretical']:.1f}%", ", ".join(longest["occupancy"]["limited_by"])])

    def test_a_roofline_leaves_no_kernel_out_without_a_word(self):
        run = self.run_of("a.json", "gto")
        still = {**run["kernels"][0], "kernel": "still", "dram_bus_ticks": 0}
        (self.path / "a.json").write_text(json.dumps({**run, "kernels": [*run["kernels"], still]}))
        (self.path / "b.json").write_text(json.dumps({**run, "kernels": [still]}))
        (self.path / "c.json").write_text(json.dumps({key: value for key, value in run.items() if key != "peaks"} | {"machine": "mine"}))
        rows = """answer.rows = [...document.querySelectorAll("#roofline tbody tr")].map((row) => row.children[0].textContent);
            answer.words = [...document.querySelectorAll("#roofline .note")].map((each) => each.textContent).join();"""
        self.tyto("report", "a.json")
        seen, _ = self.read(after=rows)
        self.assertEqual(sorted(seen["rows"]), ["reduction", "still"])
        self.assertIn("1 of 2 kernels have no DRAM traffic", seen["words"])
        self.tyto("report", "b.json")  # once, the section was missing
        seen, _ = self.read(after=rows)
        self.assertEqual(seen["rows"], ["still"])
        self.tyto("report", "c.json")
        seen, _ = self.read(after=rows)
        self.assertIn("The limits of mine are unknown", seen["words"])

    def test_kernels_have_the_names_of_their_source(self):
        run = self.run_of("a.json", "gto")
        run["kernels"] = [{**kernel, "kernel": "_Z3sumPf", "demangled": "sum(float*)"} for kernel in run["kernels"]]
        (self.path / "a.json").write_text(json.dumps(run))
        self.tyto("report", "a.json")
        seen, _ = self.read(after="""answer.names = [...document.querySelectorAll("#kernels tbody tr")].map((row) => row.children[2].textContent);""")
        self.assertEqual(set(seen["names"]), {"sum(float*)"})

    def test_what_a_sweep_leaves_to_the_machine_has_the_machine_s_name(self):
        self.tyto("sweep", "vecadd", "--machines", "gtx480", "--sizes", "test", "--json", "s.json")
        self.tyto("run", "--quiet", "--machine", "gtx480", "--scheduler", "lrr", "--cta-scheduler", "limit", "--json", "r.json", "vecadd", "--size", "test")
        self.tyto("report", "s.json", "r.json")
        seen, _ = self.read(after="""answer.names = [...document.querySelectorAll("#runs tbody tr")].map((row) => row.children[0].textContent);""")
        self.assertEqual(sorted(seen["names"]), ["gto, round-robin", "lrr, limit"])

    def test_units_are_shown_side_by_side(self):
        run = with_units(self.run_of("a.json", "gto"))
        (self.path / "a.json").write_text(json.dumps(run))
        self.tyto("report", "a.json")
        seen, page = self.read(after="""answer.marks = [...document.querySelectorAll("#units title")].map((each) => each.textContent);""")
        self.assertIn("units", seen["sections"])
        self.assertIn("SM 3: issued an instruction 40.0%", seen["marks"])
        self.assertIn("channel 1, bank 0: 40", seen["marks"])

    def test_sets_are_shown_with_what_each_of_them_counted(self):
        run = self.run_of("a.json", "gto", "--per-unit")
        self.tyto("report", "a.json")
        seen, _ = self.read(after="""const select = document.querySelector("#sets select"); select.value = 1; select.dispatchEvent(new Event("change"));
            answer.cells = [...document.querySelectorAll("#sets title")].map((each) => each.textContent);
            answer.rows = [...document.querySelectorAll("#sets tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));""")
        self.assertIn("sets", seen["sections"])
        sms, slices, sets = run["units"]["sms"], run["units"]["slices"], run["cache_sets"]
        lookups = [sum(column) for column in zip(*(sm["sets"]["accesses"] for sm in sms))]
        self.assertTrue({f"lookups, set {i}: {value:,}" for i, value in enumerate(lookups)} <= set(seen["cells"]))
        for each in slices:  # the chosen count
            self.assertIn(f"slice {each['channel']}.{each['slice']}, set 3: {each['sets']['misses'][3]:,} misses", seen["cells"])
        self.assertEqual([row[1:4] for row in seen["rows"]], [[title, f"{sets[key]['sets']:,}", f"{sets[key]['idle']:,}"] for key, title in (("l1d", "L1D"), ("l2", "L2"))])
        self.assertEqual(seen["rows"][1][4], f"{100 * sets['l2']['accesses']['imbalance']:,.1f}%")

    def test_a_machine_of_many_units_makes_no_long_page(self):
        run = self.run_of("a.json", "gto", "--machine", "v100", "--per-unit")
        self.tyto("report", "a.json")
        seen, _ = self.read(after="""answer.high = Math.max(...[...document.querySelectorAll("figure svg")].map((each) => each.getBoundingClientRect().height));
            answer.shares = [...document.querySelectorAll("#cycles title")].map((each) => each.textContent);
            answer.memory = document.querySelector("#memory").textContent;""")
        self.assertLess(seen["high"], 720)  # of 80 SMs, 64 slices, 64 channels of 16 banks
        total = run["total"]
        pipelines = {"SP": "sp", "INT": "int", "load/store": "ldst"}
        whole = sum(total[f"{name}_instructions"] for name in ("sp", "int", "sfu", "dp", "tensor", "ldst"))
        for label, name in pipelines.items():
            self.assertIn(f"gto: {label} {100 * total[f'{name}_instructions'] / whole:.1f}%", seen["shares"])
        self.assertEqual("There was no DRAM traffic" in seen["memory"], total["dram_reads"] + total["dram_writes"] == 0)

    def test_a_page_prints_on_few_sheets(self):
        self.run_of("a.json", "gto", "--machine", "v100")
        self.tyto("report", "a.json")
        subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={self.path / 'profile'}", "--virtual-time-budget=5000",
                        f"--print-to-pdf={self.path / 'page.pdf'}", (self.path / "report.html").as_uri()], capture_output=True, check=True, timeout=120)
        self.assertIn(len(re.findall(rb"/Type\s*/Page\b", (self.path / "page.pdf").read_bytes())), range(2, 9))

    def test_a_sweep_has_its_swept_value_along_the_axis(self):
        self.tyto("sweep", "vecadd", "reduction", "--machines", "gtx480", "--set", "l1d.size=16KiB,32KiB", "--schedulers", "lrr,gto", "--sizes", "test", "--json", "s.json")
        self.tyto("report", "s.json")
        seen, page = self.read(after="""answer.plots = [...document.querySelectorAll("#sweep figure")].map((each) => [each.querySelector("figcaption").textContent,
            [...each.querySelectorAll("[aria-label='x-axis tick label'] text")].map((text) => text.textContent), each.querySelectorAll("[aria-label='dot'] path").length]);""")
        self.assertEqual(seen["plots"], [["vecadd", ["16KiB", "32KiB"], 4], ["reduction", ["16KiB", "32KiB"], 4]])

    def test_a_large_sweep_has_a_short_page(self):
        self.tyto("sweep", "vecadd", "reduction", "--machines", "gtx480", "--schedulers", "lrr,gto", "--sizes", "test", "--baseline", "lrr", "--json", "s.json")
        sweep = json.loads((self.path / "s.json").read_text())
        first, names = sweep["runs"], [f"program{i}" for i in range(65)]
        sweep["dimensions"][0]["values"] = names
        sweep["runs"] = [{**run, "values": {**run["values"], "program": name}, "result": {**run["result"], "program": name}} for name in names for run in first[:2]]
        sweep["runs"][4] |= {"state": "failed", "reason": "exit status 7", "result": None}
        sweep["runs"][5] |= {"state": "missing", "result": None}
        (self.path / "s.json").write_text(json.dumps(sweep))
        self.tyto("report", "s.json")
        seen, _ = self.read(after="""answer.plots = document.querySelectorAll("#sweep figure").length;
            answer.chosen = [...document.querySelectorAll("#sweep option")].length;
            answer.bars = document.querySelectorAll("#cycles figure:first-of-type [aria-label='y-axis tick label'] text").length;
            answer.failures = document.querySelector("#failures").textContent;
            answer.league = [...document.querySelectorAll("#league tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));""")
        self.assertEqual(seen["title"], "64 programs on gtx480")
        self.assertEqual((seen["plots"], seen["chosen"]), (1, 64))
        self.assertLessEqual(seen["bars"], 2 * 40)
        self.assertIn("1 failed, 1 missing of 130 runs", seen["failures"])
        self.assertIn("exit status 7", seen["failures"])
        cycles = [run["result"]["total"]["cycles"] for run in first[:2]]
        self.assertEqual(seen["league"][0], ["program0", "1.000", f"{cycles[0] / cycles[1]:.3f}"])
        whole, page = (len((self.path / name).read_text()) for name in ("s.json", "report.html"))
        held = json.loads(re.search(r'id="data">(.*?)</script>', (self.path / "report.html").read_text(), re.S).group(1))
        result = held["documents"][0]["data"]["runs"][0]["result"]
        self.assertEqual(result["total"]["cycles"], first[0]["result"]["total"]["cycles"])
        self.assertEqual(result["kernels"][0]["advice"], first[0]["result"]["kernels"][0]["advice"])
        self.assertNotIn("spread", result["kernels"][0])
        self.assertLess(len(json.dumps(held["documents"])), 0.6 * len(json.dumps(sweep)))

    def test_a_sweep_joins_values_that_are_numbers_and_nothing_else(self):
        for x, given, lines in (("l1d.size", ("--machines", "gtx480", "--set", "l1d.size=16KiB,32KiB"), 2), ("machine", ("--machines", "owl,ccws"), 0)):
            self.tyto("sweep", "vecadd", *given, "--x", x, "--schedulers", "lrr,gto", "--sizes", "test", "--json", "s.json")
            self.tyto("report", "s.json")
            seen, page = self.read(after="""answer.lines = document.querySelectorAll("#sweep figure [aria-label='line'] path").length;
                answer.dots = document.querySelectorAll("#sweep figure [aria-label='dot'] path").length;""")
            self.assertEqual((seen["lines"], seen["dots"]), (lines, 4), x)

    def test_a_page_is_no_wider_than_its_window(self):
        run = with_units(self.run_of("a.json", "gto"))
        run["scheduler"] = "a name without end " * 20 + "x" * 300
        (self.path / "a.json").write_text(json.dumps(run))
        self.run_of("b.json", "lrr")
        self.tyto("report", "a.json", "b.json")
        for width in (500, 800, 1400):
            self.assertLessEqual(self.read(width)[0]["wide"], width)

    def test_hostile_names_stay_words(self):
        run = self.run_of("a.json", "gto")
        run["program"] = run["scheduler"] = HOSTILE
        for kernel in run["profile"]:
            kernel["kernel"] = kernel["module"] = HOSTILE
            for line in kernel["instructions"] + kernel["sources"]:
                line["text"] = HOSTILE
        for kernel in run["kernels"]:
            kernel["kernel"] = HOSTILE
        (self.path / "a.json").write_text(json.dumps(run))
        self.tyto("report", "a.json")
        seen, page = self.read()
        self.assertIn("document.title='taken'", seen["title"])
        self.assertNotIn("<title>taken", page)
        self.assertTrue(any(row[3] == HOSTILE for row in seen["source"]))

    def test_an_experiment_stands_beside_its_paper(self):
        (self.path / "t.csv").write_text("experiment,size,row,column,ours,published,verdict,place\n"
                                         'owl-figure-7,small,"spmv","owl",1.2,1.5,agrees,"figure 7"\n')
        self.tyto("report", "t.csv")
        seen, _ = self.read()
        self.assertEqual(seen["sections"], ["experiment-owl-figure-7"])
        self.assertEqual(seen["pictures"], 1)

    def test_results_without_timing_or_anything_are_shown_too(self):
        self.tyto("run", "--functional", "--quiet", "--json", "f.json", "vecadd", "--size", "300")
        self.tyto("report", "f.json")
        self.assertEqual(self.read()[0]["sections"], ["counters"])
        (self.path / "e.json").write_text('{"kernels": [], "total": null}')
        self.tyto("report", "e.json")
        self.assertEqual(self.read()[0]["title"], "Nothing to report")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
