#!/usr/bin/env python3
"""The Containerfile fits what is built. `scripts/check-container` builds it; this test needs no network.

usage: test_container.py ROOT BINARY...
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT, BINARIES = pathlib.Path(sys.argv[1]), sys.argv[2:]
del sys.argv[1:]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
LAST_STAGE = TEXT[TEXT.rindex("\nFROM "):]


def installed(stage):
    """Packages that a stage's RUN lines install."""
    return {word for line in re.findall(r"apt-get -q install (.*?)(?:&&|\n)", stage)
            for word in line.split() if not word.startswith("-")}


def needed():
    """Debian packages of the libraries that the binaries are linked with, except those that every Debian system has."""
    files = set()
    for binary in BINARIES:
        table = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
        files.update(pathlib.Path(found) for found in re.findall(r"=> (/.*) \(", table))
    # On a merged /usr, files are not at the paths that their packages list. (Tyto's own libraries belong to no
    # package.)
    names = [str(top / file.parent.name / file.name) for file in files for top in (pathlib.Path("/lib"), pathlib.Path("/usr/lib"))]
    found = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True, check=False).stdout
    return {line.split(":")[0] for line in found.splitlines()} - {"libc6"}


class Container(unittest.TestCase):
    @unittest.skipUnless(shutil.which("dpkg"), "this is not a Debian system")
    def test_the_image_has_the_libraries_that_the_binaries_need_and_no_others(self):
        self.assertEqual(installed(LAST_STAGE), needed())

    def test_what_is_built_here_is_not_copied_into_the_image(self):
        ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
        for name in ("build*/", "*.sqlite"):
            self.assertIn(name, ignored)

    def test_what_the_head_names_for_more_is_what_the_setup_installs(self):
        setup = (ROOT / "scripts" / "setup").read_text(encoding="utf-8")
        more = re.findall(r"needs ([a-z0-9-]+) besides|`--plot` ([a-z0-9-]+)\.", TEXT)
        self.assertEqual(len(more), 2)
        for name in ("".join(pair) for pair in more):
            self.assertRegex(setup, rf"(?m)^{name} +\|")


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad - len(ran.skipped)} passed, {bad} failed, {len(ran.skipped)} skipped")
    sys.exit(bool(bad))
