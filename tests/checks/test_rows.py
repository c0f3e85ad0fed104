#!/usr/bin/env python3
"""Tables of typed rows: the compiler refuses a row that does not fit its field.
A source is compiled unchanged and must pass. Then it is compiled with one fault in a copy of a file that it includes,
and must fail.

usage: test_rows.py ROOT COMPILER...
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2:]
FLAGS = ("-std=c17", "-D_GNU_SOURCE", "-DTYTO_OWN_CODE", '-DTYTO_VERSION="0"', "-Wall", "-Wextra", "-Wconversion", "-Werror",
         "-fsyntax-only")


class Row(unittest.TestCase):
    def compile(self, source, file=None, pattern=None, new=None):
        """Compiles `source` below src/, after it replaces what matches `pattern` in `file` below src/."""
        with tempfile.TemporaryDirectory() as folder:
            if file:
                text, count = re.subn(pattern, new, (ROOT / "src" / file).read_text(encoding="utf-8"))
                self.assertEqual(count, 1, f"{file} holds '{pattern}' once")
                copy = pathlib.Path(folder) / file
                copy.parent.mkdir(parents=True)
                copy.write_text(text, encoding="utf-8")
            done = subprocess.run([*COMPILER, *FLAGS, "-I", folder, "-I", ROOT / "src", "-I", ROOT / "include",
                                   "-x", "c", "-"], input=f'#include "{source}"\n', text=True,
                                  capture_output=True, check=False)
        return done.returncode, done.stderr

    def accepted(self, source):
        self.assertEqual(self.compile(source), (0, ""))

    def refused(self, source, file, pattern, new):
        status, _ = self.compile(source, file, pattern, new)
        self.assertNotEqual(status, 0, f"{source} compiles with '{new}' in {file}")


class Option(Row):
    def test_the_table_compiles_as_it_is(self):
        self.accepted("simulator/options.c")
        self.accepted("simulator/record.c")

    def test_an_option_of_another_width_than_its_kind_is_refused(self):
        self.refused("simulator/options.c", "simulator/options.h", r"KIND\(COUNT, uint64_t\)", "KIND(COUNT, uint32_t)")
        self.refused("simulator/options.c", "simulator/options.h", r"KIND\(FLAG, bool\)", "KIND(FLAG, int)")

    def test_an_option_of_no_kind_is_refused(self):
        self.refused("simulator/options.c", "simulator/options.def", r"OPTION\(DUMP, group", "OPTION(HALF, group")

    def test_a_second_option_with_the_same_field_is_refused(self):
        self.refused("simulator/options.c", "simulator/options.def", '"--stack", stack_bytes', '"--stack", memory_bytes')

    def test_a_result_written_by_a_function_of_another_type_is_refused(self):
        self.refused("simulator/record.c", "simulator/options.def", "run_write_ctas_csv", "run_free")


class MachineParameter(Row):
    def test_the_table_compiles_as_it_is(self):
        self.accepted("machine/machine_rows.c")
        self.accepted("noc/noc.c")

    def test_a_field_of_another_width_than_its_kind_is_refused(self):
        for kind, is_now, new in (("COUNT", "uint32_t", "uint16_t"), ("BYTES", "uint32_t", "uint64_t"),
                                  ("FREQUENCY", "uint32_t", "float"), ("ADDRESS", "uint32_t", "uint64_t"),
                                  ("TIME", "ParameterTime", "uint64_t"), ("BOOL", "bool", "uint32_t"), ("CHOICE", "type", "uint8_t"),
                                  ("LIST", "ParameterList", "uint32_t")):
            self.refused("machine/machine_rows.c", "base/parameter.h",
                         rf"(PARAMETER_FIELD_{kind}\(.*\) +){is_now} field;", rf"\1{new} field;")
        self.refused("machine/machine_rows.c", "base/parameter.h", r"char field\[size\]", "char field[size - 1]")

    def test_a_record_declared_by_hand_is_held_against_its_rows(self):
        fields = "uint32_t latency; uint32_t initiation; SmUnit unit;"
        pattern = r"SM_OP_PARAMETERS\(PARAMETER_FIELD, [ ,]*\)"
        self.assertEqual(self.compile("machine/machine_rows.c", "sm/sm_config.h", pattern, fields), (0, ""))
        for old, new in (("uint32_t initiation", "uint8_t initiation"), ("SmUnit unit", "NocKind unit"),
                         ("uint32_t latency", "double latency"), ("uint32_t latency;", "")):
            self.refused("machine/machine_rows.c", "sm/sm_config.h", pattern, fields.replace(old, new))

    def test_rows_put_at_another_record_are_refused(self):
        self.refused("machine/machine_rows.c", "sm/sm_config.h", "SmCollectorConfig collector;",
                     "SmSharedConfig collector;")

    def test_a_second_parameter_with_the_same_field_is_refused(self):
        self.refused("machine/machine_rows.c", "sm/sm_config.h", '"fifo", fifo,', '"fifo", reply_fifo,')

    def test_a_choice_without_names_is_refused(self):
        self.refused("machine/machine_rows.c", "cache/cache_config.h", "flush, CacheFlush,", "flush, uint32_t,")

    def test_a_bound_that_an_int_cannot_hold_is_refused(self):
        self.refused("machine/machine_rows.c", "noc/noc.h", 'NOC_MAX_FLIT_BYTES, "40 B"', 'UINT32_MAX, "40 B"')

    def test_a_number_of_a_network_that_is_no_int_is_refused(self):
        pattern = r"(NOC_FIELD_COUNT\(.*\) +)int field;"
        for source in ("machine/machine_rows.c", "noc/noc.c"):
            self.refused(source, "noc/noc.h", pattern, r"\1short field;")


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
