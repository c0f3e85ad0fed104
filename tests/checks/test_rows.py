#!/usr/bin/env python3
"""Tables of typed rows: a row that does not fit its field is refused by the compiler. A source is compiled
as it is, and must pass; then with one fault in a copy of a file that it includes, and must not.

usage: test_rows.py ROOT COMPILER...
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2:]
FLAGS = ("-std=c17", "-D_GNU_SOURCE", '-DTYTO_VERSION="0"', "-Wall", "-Wextra", "-Wconversion", "-Werror",
         "-fsyntax-only")


class Row(unittest.TestCase):
    def compile(self, source, file=None, old=None, new=None):
        """Compiles `source` below src/, with `old` in `file` below src/ replaced by `new`."""
        with tempfile.TemporaryDirectory() as folder:
            if file:
                text = (ROOT / "src" / file).read_text(encoding="utf-8")
                self.assertEqual(text.count(old), 1, f"{file} holds '{old}' once")
                copy = pathlib.Path(folder) / file
                copy.parent.mkdir(parents=True)
                copy.write_text(text.replace(old, new), encoding="utf-8")
            done = subprocess.run([*COMPILER, *FLAGS, "-I", folder, "-I", ROOT / "src", "-I", ROOT / "include",
                                   "-x", "c", "-"], input=f'#include "{source}"\n', text=True,
                                  capture_output=True, check=False)
        return done.returncode, done.stderr

    def refused(self, source, file, old, new):
        status, said = self.compile(source, file, old, new)
        self.assertNotEqual(status, 0, f"{source} compiles with '{new}' in {file}")
        return said

    def test_the_option_table_compiles_as_it_is(self):
        self.assertEqual(self.compile("driver/options.c"), (0, ""))
        self.assertEqual(self.compile("driver/detail.c"), (0, ""))

    def test_an_option_of_another_width_than_its_kind_is_refused(self):
        self.refused("driver/options.c", "driver/options.h", "KIND(COUNT, uint64_t)", "KIND(COUNT, uint32_t)")

    def test_an_option_of_no_kind_is_refused(self):
        self.refused("driver/options.c", "driver/options.def", 'OPTION(DUMP, group', 'OPTION(HALF, group')

    def test_a_second_option_with_the_same_field_is_refused(self):
        self.refused("driver/options.c", "driver/options.def", '"--stack", stack_bytes', '"--stack", memory_bytes')

    def test_a_result_written_by_a_function_of_another_type_is_refused(self):
        self.refused("driver/record.c", "driver/options.def", "run_write_ctas_csv", "run_free")


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
