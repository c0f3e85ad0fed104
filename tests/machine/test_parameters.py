"""Every parameter of a machine has an effect (some source reads its field), and something varies it.

usage: test_parameters.py SOURCE_ROOT TYTO

A parameter is a row of a table in a header of its unit (P(kind, key, at, "name", field, ...)). A parameter that no source
reads would be accepted in a machine file and printed with its origin, but change nothing. A parameter that is the same on
all machines, and that no test, experiment or page names, must be a constant (docs/machine-parameters.md gives the rule)."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
TYTO = pathlib.Path(sys.argv.pop(1)).resolve()
ROW = re.compile(r'\bP\(\w+, \w+, at, "([\w.]+)", (\w+),')


VARIED = ("tests/**/*.c", "tests/**/*.py", "experiments/*.yaml", "docs/*.md")
RESEARCHED = ("unit", "replacement", "policy", "scheduler", "hash", "bank_hash", "set_hash")  # keys that a researcher would vary


def values_of(machine):
    """{key: value in the format of a file} of a machine."""
    values, sections = {}, []
    for line in subprocess.run([TYTO, "machines", machine], capture_output=True, text=True, check=True).stdout.splitlines():
        if found := re.match(r"( *)([\w-]+):(.*?)(?: +# .*)?$", line):
            sections = [*sections[:len(found[1]) // 2], found[2]]
            values[".".join(sections)] = found[3].strip()
    return {key: value for key, value in values.items() if value}


def is_quantity(value):
    return re.fullmatch(r"(0x)?[0-9a-f.]+( \w+)?|\[.*\]", value) is not None


class Parameters(unittest.TestCase):
    def test_each_is_varied_by_something(self):
        machines = [values_of(path.stem) for path in (ROOT / "machines").glob("*.yaml")]
        differ = {key.split(".")[-1] for key in machines[0] if len({values[key] for values in machines}) > 1}
        texts = "".join(path.read_text(encoding="utf-8") for pattern in VARIED for path in ROOT.glob(pattern)
                        if path.name != "machine-parameters.md")
        same = [key for key, value in machines[0].items() if not is_quantity(value)
                and key.split(".")[-1] not in differ | set(RESEARCHED)]  # nor does a key with the same name in another unit differ
        self.assertGreater(len(machines[0]), 300)
        self.assertEqual([key for key in same if not re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", texts)], [])

    def test_each_is_read(self):
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*") if path.suffix in (".c", ".h")]
        rows = [match.groups() for text in texts for match in ROW.finditer(text)]
        self.assertGreater(len(rows), 150)
        read = {match[1] for text in texts for match in re.finditer(r"(?:->|\.)(\w+)", text)}
        self.assertEqual([name for name, field in rows if field not in read], [])


if __name__ == "__main__":
    unittest.main()
