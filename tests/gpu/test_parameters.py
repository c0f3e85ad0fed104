"""Every parameter of a machine decides something: its field is read somewhere in the sources.

usage: test_parameters.py SOURCE_ROOT

A parameter is a row of a table in a header of its unit (P(kind, key, at, "name", field, ...)). One that nobody reads would
be taken from a machine file, printed with its origin, and change nothing.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
ROW = re.compile(r'\bP\(\w+, \w+, at, "([\w.]+)", (\w+),')


class Parameters(unittest.TestCase):
    def test_each_is_read(self):
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*") if path.suffix in (".c", ".h")]
        rows = [match.groups() for text in texts for match in ROW.finditer(text)]
        self.assertGreater(len(rows), 150)
        read = {match[1] for text in texts for match in re.finditer(r"(?:->|\.)(\w+)", text)}
        self.assertEqual([name for name, field in rows if field not in read], [])


if __name__ == "__main__":
    unittest.main()
