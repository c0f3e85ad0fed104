#!/usr/bin/env python3
"""Functions that our libraries export but do not support report this once, and return the library's own status.

usage: test_missing.py STATUS MISSING_DEF LIBRARY...

The libraries are releases of one library. Each must export every name in MISSING_DEF. The exports of the first must be
those of the vendor's library, if that is installed."""
import pathlib
import re
import subprocess
import sys
import unittest

STATUS, MISSING, LIBRARIES = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
NAMES = re.findall(r"ROW\((\w+)\)", pathlib.Path(MISSING).read_text(encoding="utf-8"))
# In a separate process: calls each name twice, and prints what it returned.
CALLS = ("import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\n"
         "for name in sys.argv[2:]:\n    print(name, getattr(library, name)(), getattr(library, name)())\n")


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r" [TW] (\w+)@@?(\S+)", listing))


class Missing(unittest.TestCase):
    def test_each_name_says_so_once_and_returns_the_librarys_status(self):
        done = subprocess.run([sys.executable, "-c", CALLS, LIBRARIES[0], *NAMES], capture_output=True, text=True,
                              check=True)
        self.assertEqual(done.stdout.splitlines(), [f"{name} {STATUS} {STATUS}" for name in NAMES])
        self.assertEqual(done.stderr.splitlines(),
                         [f"tyto: error: {name} is not supported (docs/libraries.md)" for name in NAMES])

    def test_releases_export_the_same_names_in_a_version_of_their_own(self):
        first = exported(LIBRARIES[0])
        for library in LIBRARIES:
            names = exported(library)
            self.assertEqual(names.keys(), first.keys())
            self.assertLessEqual(set(NAMES), names.keys())
            soname = re.search(r"SONAME.*\[(.*)\]", subprocess.run(["readelf", "-d", library], capture_output=True,
                                                                 text=True, check=True).stdout).group(1)
            self.assertEqual(set(names.values()), {soname})

    def test_the_vendors_library_exports_no_other_name(self):
        soname = next(iter(exported(LIBRARIES[0]).values()))
        vendors = pathlib.Path("/usr/local/cuda/lib64") / soname
        if not vendors.exists():
            self.skipTest(f"there is no {soname} of CUDA 13 here")
        theirs = {name for name in exported(vendors) if name.startswith(("cublas", "curand", "cufft", "cusparse"))}
        self.assertEqual(theirs, set(exported(LIBRARIES[0])))


unittest.main(argv=sys.argv[:1])
