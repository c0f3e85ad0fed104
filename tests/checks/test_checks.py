#!/usr/bin/env python3
"""Tests of the checks: each must find the fault that it exists for. usage: test_checks.py SCRIPTS"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1))


def run(script, *arguments):
    return subprocess.run([sys.executable, SCRIPTS / script, *map(str, arguments)], text=True,
                          capture_output=True, check=False)


class InTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Format(InTree):
    def check(self):
        (self.root / ".clang-format").write_text("BasedOnStyle: LLVM\nIndentWidth: 4\n")
        return subprocess.run(["bash", SCRIPTS / "check-format", self.root], text=True,
                              capture_output=True, check=False)

    def test_a_laid_out_tree_passes(self):
        self.write("src/base/map.c", "int x;\n")
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_line_laid_out_otherwise_is_found(self):
        self.write("src/base/map.c", "int x;\nint   y;\n")
        done = self.check()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("src/base/map.c:2", done.stdout)


class Tidy(InTree):
    def check(self, text):
        path = self.write("src/base/a.c", text)
        shutil.copy(SCRIPTS.parent / ".clang-tidy", self.root)
        command = {"directory": str(self.root), "file": "src/base/a.c", "arguments": ["cc", "-c", str(path)]}
        self.write("build/compile_commands.json", json.dumps([command, command]))
        return run("check-tidy", self.root, self.root / "build")

    def test_a_sound_source_passes(self):
        done = self.check("int twice(int x) { return 2 * x; }\n")
        self.assertEqual((done.returncode, done.stdout), (0, "clang-tidy has nothing to say of 1 sources\n"))

    def test_a_mistake_is_found(self):
        done = self.check("int f(int x) { for (char i = 0; i < x; i++) x--; return x; }\n")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("src/base/a.c:1:33: error: loop variable has narrower type", done.stdout)


class Layers(InTree):
    def check(self, *compiler):
        return run("check-layers", self.root, "base,ptx,gpu", *compiler)

    def assert_finds(self, words):
        done = self.check()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stdout)

    def setUp(self):
        super().setUp()
        self.write("include/tyto/tyto.h", "typedef int TytoStatus;\n")
        self.write("src/base/map.h", "#include <stddef.h>\n")
        self.write("src/gpu/gpu.h", '#include "base/map.h"\n#include "tyto/tyto.h"\n')
        self.write("src/gpu/gpu.c", '#include "gpu/gpu.h"\n#include "base/map.h"\n')
        self.write("src/cli/main.c", '#include <tyto/tyto.h>\n')

    def test_an_ordered_tree_passes(self):
        done = self.check("cc")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_include_of_a_later_layer_is_found(self):
        self.write("src/ptx/ptx.h", '#include "gpu/gpu.h"\n')
        self.assert_finds('src/ptx/ptx.h:1: "gpu/gpu.h": gpu/ comes after ptx/')

    def test_an_include_beside_a_door_is_found(self):
        doors = ["--door=gpu>base=map.h", "--door=>gpu/core=core.h"]
        self.write("src/base/secret.h", "\n")
        self.write("src/gpu/core/core.h", "\n")
        self.write("src/gpu/core/part.h", '#include "gpu/core/core.h"\n')
        self.write("src/gpu/gpu.c", '#include "gpu/gpu.h"\n#include "gpu/core/core.h"\n')
        self.assertEqual(self.check(*doors, "cc").returncode, 0)
        self.write("src/gpu/core/more.h", '#include "base/secret.h"\n')
        self.write("src/gpu/gpu.c", '#include "gpu/gpu.h"\n#include "gpu/core/part.h"\n')
        self.write("src/base/map.h", '#include "base/secret.h"\n')
        done = self.check(*doors)
        self.assertEqual(done.returncode, 1)
        for words in ('src/gpu/core/more.h:1: "base/secret.h": base/ is entered by base/map.h only',
                      'src/gpu/gpu.c:2: "gpu/core/part.h": gpu/core/ is entered by gpu/core/core.h only',
                      'src/base/map.h:1: "base/secret.h": base/ is entered by base/map.h only'):
            self.assertIn(words, done.stdout)

    def test_a_private_header_in_the_command_is_found(self):
        self.write("src/cli/main.c", '#include <stdio.h>\n#include "gpu/gpu.h"\n')
        self.assert_finds('src/cli/main.c:2: "gpu/gpu.h": cli/ sees public headers only')

    def test_a_private_header_in_a_workload_is_found(self):
        self.write("workloads/bfs/host.c", '#include "gpu/gpu.h"\n')
        self.assert_finds('workloads/bfs/host.c:1: "gpu/gpu.h" is not a public header')

    def test_a_missing_file_is_found(self):
        self.write("src/gpu/more.c", '#include "more.h"\n')
        self.assert_finds('src/gpu/more.c:1: "more.h" is no file')

    def test_a_late_own_header_is_found(self):
        self.write("src/gpu/gpu.c", '#include "base/map.h"\n#include "gpu/gpu.h"\n')
        self.assert_finds("src/gpu/gpu.c:1: includes something before its own header")

    def test_a_folder_without_a_place_is_found(self):
        self.write("src/extra/extra.h", "\n")
        self.assert_finds("folder extra/ has no place")

    def test_a_header_that_needs_another_is_found(self):
        self.write("src/gpu/gpu.h", "size_t gpu_size(void);\n")
        done = self.check("cc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/gpu/gpu.h: does not compile alone", done.stdout)


class Style(InTree):
    def test_each_fault_is_found(self):
        faults = {
            "int x; \n": ":2: trailing white space",
            "\tint x;\n": ":2: a tab",
            "int x; // TO" + "DO later\n": ":2: a note of something unfinished",
            "int " + "x" * 120 + ";\n": ":2: longer than 100 columns",
            "int x;": ":2: no line end",
            "int x;\n" * 1000: "more than 1000",
        }
        for text, words in faults.items():
            self.write("src/base/a.c", "/* a */\n" + text)
            done = run("check-style", self.root)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn("src/base/a.c" + words if words[0] == ":" else words, done.stdout)
        self.write("src/base/a.c", "int x;\n")
        self.assertIn("does not start by saying", run("check-style", self.root).stdout)

    def test_a_path_or_link_that_leads_nowhere_is_found(self):
        self.write("docs/a.md", "See `src/base/none.c`, `src/NAME/x.c`, `src/gpu/x_NAME.c`, [b](b.md),\n[c](../src/c.c).\n")
        self.write("src/base/a.c", "/* a */\n")
        self.assertEqual(run("check-style", self.root).stdout,
                         "docs/a.md:1: src/base/none.c is not there\ndocs/a.md:1: src/gpu/x_NAME.c is not there\n"
                         "docs/a.md:1: b.md is not there\ndocs/a.md:2: ../src/c.c is not there\n")

    def test_a_table_of_files_names_files_that_are_there(self):
        for name in ("base/a.c", "base/b.h", "base/rows.def", "cache/exec_x.c"):
            self.write("src/" + name, "/* a */\n")
        head = "# Base\n\n| file | what it does |\n|---|---|\n"
        self.write("docs/a.md", head + "| `a`, `b` | this |\n| `rows.def`, `exec_*.c` | that |\n")
        self.assertEqual(run("check-style", self.root).returncode, 0)
        self.write("docs/a.md", head + "| `a`, `late` | this |\n| `rows.inc` | `none` |\n")
        self.assertEqual(run("check-style", self.root).stdout,
                         "docs/a.md:5: late is no file below src/\ndocs/a.md:6: rows.inc is no file below src/\n")

    def test_a_page_that_is_not_listed_is_found(self):
        self.write("docs/a.md", "# A\n")
        self.write("docs/b.md", "# B\n")
        self.write("docs/README.md", "[a](a.md)\n")
        self.assertEqual(run("check-style", self.root).stdout, "docs/README.md: does not list b.md\n")

    def test_without_git_what_is_built_is_passed_over(self):
        for name in ("build/a.c", "tests/__pycache__/a.pyc"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\xff \n")
        done = run("check-style", self.root)
        self.assertEqual((done.returncode, done.stdout), (0, "the sources look as they should\n"))

    def test_a_clean_file_passes(self):
        self.write("src/base/a.c", "/* a */\nint x;\n")
        self.assertEqual(run("check-style", self.root).returncode, 0)


class Prose(InTree):
    def found(self, name, text):
        self.write(name, text)
        return run("check-prose", self.root, name).stdout

    def test_a_long_sentence_is_found_outside_tables_and_code(self):
        words = " ".join(["word"] * 36) + "."
        self.assertIn("docs/a.md:3: a sentence of 36 words", self.found("docs/a.md", f"# A\n\n{words}\n"))
        for text in (f"| {words} |\n", f"```\n{words}\n```\n", "A `" + "word " * 40 + "` b.\n", "One. " * 40 + "\n"):
            self.assertIn("0 findings", self.found("docs/a.md", text), text)

    def test_a_long_line_is_found(self):
        self.assertIn("docs/a.md:1: a line of 420 characters", self.found("docs/a.md", "Sixty. " * 60 + "\n"))

    def test_a_word_to_avoid_is_found_in_prose_comments_and_strings_only(self):
        self.assertIn('docs/a.md:1: "beside": write next to', self.found("docs/a.md", "It is beside it.\n"))
        self.assertIn('a.c:2: "nobody"', self.found("a.c", "int nobody;\n/* nobody */\n"))
        self.assertIn('a.c:1: "so many"', self.found("a.c", 'char *a = "so many";\n'))
        self.assertIn('a.py:2: "stood"', self.found("a.py", '"""A.\nIt stood."""\nstood = 1  # a\n'))
        self.assertIn("0 findings", self.found("docs/a.md", "Besides, `beside` stands for a side.\n"))

    def test_known_findings_pass_and_only_go_down(self):
        self.write("scripts/check-prose.known", "2 docs/a.md\n")
        self.write("docs/a.md", "Nobody stood.\n")
        self.assertEqual(run("check-prose", self.root).returncode, 0)
        self.write("docs/a.md", "Nobody stood beside it.\n")
        done = run("check-prose", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/a.md: 3 findings, 2 are known", done.stdout)
        self.assertEqual(run("check-prose", "--update", self.root).returncode, 1)
        self.write("docs/a.md", "Nobody.\n")
        run("check-prose", "--update", self.root)
        self.assertIn("1 docs/a.md", (self.root / "scripts/check-prose.known").read_text())


class Mutants(InTree):
    """scripts/mutate in a tree with one source; `meson` is a script that decides whether the test passes."""
    ROWS = "name off-by-one\nwhy  it matters\nfile src/base/a.c\n- return x   + 1;\n+     return x;\n"

    def setUp(self):
        super().setUp()
        for name in ("mutate", "scratch.py"):
            self.write(f"scripts/{name}", (SCRIPTS / name).read_text())
        self.write("src/base/a.c", "int next(int x);\nint next(int x) {\n    return x + 1;\n}\n")
        self.write("tests/base/test.c", "int next(int x);\nint main(void) { return next(1) != 2; }\n")
        self.write("tests/mutants/base.txt", self.ROWS)
        self.write("meson.build", "project('a', 'c')\nexecutable('tyto', 'tests/base/test.c', 'src/base/a.c')\n"
                                  "subdir('tests/base')\n")
        self.write("tests/base/meson.build", "test('next', executable('next', 'test.c', '../../src/base/a.c'),"
                                             " suite: 'unit')\n")

    def mutate(self, *arguments, path=None):
        return subprocess.run([sys.executable, self.root / "scripts/mutate", *arguments], text=True,
                              capture_output=True, check=False, env={"PATH": path} if path else None)

    def test_rows_that_do_not_apply_once_are_told(self):
        done = self.mutate("--check")
        self.assertEqual((done.returncode, done.stdout), (1, "src/base: 1 rows, fewer than 3\n"))
        self.write("src/base/a.c", "int next(int x) { return x + 2; }\n")
        self.assertIn("base/off-by-one: its old lines are not exactly once in src/base/a.c",
                      self.mutate("--check").stdout)

    def test_sources_are_found_where_there_is_no_git(self):
        done = self.mutate("--check", path=str(self.root))
        self.assertEqual((done.returncode, done.stdout), (1, "src/base: 1 rows, fewer than 3\n"))

    def test_a_fault_is_found_by_the_test_that_it_breaks(self):
        done = self.mutate()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^base/off-by-one +next +\d")
        self.assertTrue(done.stdout.endswith("1 passed, 0 failed\n"))

    def test_a_fault_that_no_test_finds_is_a_failure(self):
        self.write("tests/base/test.c", "int main(void) { return 0; }\n")
        done = self.mutate()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no test finds base/off-by-one: it matters (src/base/a.c)", done.stdout)

    def test_a_test_that_fails_without_a_fault_ends_it(self):
        self.write("tests/base/test.c", "int main(void) { return 1; }\n")
        self.assertIn("fails without a fault: next", self.mutate().stderr)


class CountTests(InTree):
    def count(self, *tests):
        log = self.write("log.json", "".join(json.dumps(test) + "\n" for test in tests))
        done = run("count-tests", f"a={log}")
        return done.stdout.splitlines()[-1], done.returncode

    def test_cmocka_cases_count_each(self):
        test = {"result": "OK", "stderr": "[  PASSED  ] 6 test(s).\n"}
        self.assertEqual(self.count(test), ("6 passed, 0 failed", 0))

    def test_failed_and_skipped_cases_count_each(self):
        text = ("[  PASSED  ] 3 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n"
                "[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] one\n")
        test = {"result": "FAIL", "stdout": text}
        self.assertEqual(self.count(test), ("3 passed, 2 failed, 1 skipped", 1))

    def test_a_summary_line_counts(self):
        test = {"result": "OK", "stdout": "forms\n12 passed, 0 failed, 3 skipped\n"}
        self.assertEqual(self.count(test), ("12 passed, 0 failed, 3 skipped", 0))

    def test_a_silent_program_is_one_case(self):
        self.assertEqual(self.count({"result": "OK"}, {"result": "OK", "stdout": "done\n"}),
                         ("2 passed, 0 failed", 0))

    def test_a_crash_fails_whatever_was_printed(self):
        test = {"result": "ERROR", "stdout": "4 passed, 0 failed\n"}
        self.assertEqual(self.count(test), ("4 passed, 1 failed", 1))
        self.assertEqual(self.count({"result": "TIMEOUT"}), ("0 passed, 1 failed", 1))

    def test_a_failed_program_is_named_with_the_end_of_what_it_printed(self):
        lines = "".join(f"line {n}\n" for n in range(40))
        log = self.write("log.json", json.dumps({"name": "spmv", "result": "TIMEOUT", "duration": 60.2,
                                                 "stdout": lines, "stderr": "the cause\n"}) + "\n")
        said = run("count-tests", f"release={log}").stdout.splitlines()
        self.assertEqual(said[0], "failed: release: spmv (TIMEOUT, 60 s)")
        self.assertEqual(said[1:-2], [f"    line {n}" for n in range(29, 40)] + ["    the cause"])

    def test_a_skipped_program_is_one_skipped_case(self):
        self.assertEqual(self.count({"result": "OK"}, {"result": "SKIP"}),
                         ("1 passed, 0 failed, 1 skipped", 0))

    def test_nothing_run_is_a_failure(self):
        self.assertEqual(self.count(), ("0 passed, 0 failed", 1))
        self.assertEqual(run("count-tests", "a=/none.json").returncode, 1)

    def test_logs_are_summed(self):
        one = self.write("one.json", json.dumps({"result": "OK"}) + "\n")
        two = self.write("two.log", "x\n3 passed, 0 failed\n")
        done = run("count-tests", f"release={one}", f"fuzzing={two}")
        self.assertEqual(done.stdout, "release: 1 passed, 0 failed\nfuzzing: 3 passed, 0 failed\n"
                                      "4 passed, 0 failed\n")


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
