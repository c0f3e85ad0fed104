#!/usr/bin/env python3
"""scripts/setup on various hosts, imitated by a folder of fake commands. usage: test_setup.py SETUP

A fake package is a file in the folder `installed`; a fake tool succeeds when its package is there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(sys.argv.pop(1)).resolve()
REAL = ("bash", "env", "cut", "grep", "ls", "sh", "touch")
TOOLS = {"gcc": "gcc", "python3": "python3", "meson": "meson", "ninja": "ninja-build",
         "gnuplot": "gnuplot-nox",
         "clang-format-19": "clang-format-19", "clang-tidy-19": "clang-tidy-19", "ld.lld": "lld"}
LIBRARIES = {"yaml-0.1": "libyaml-dev", "sqlite3": "libsqlite3-dev", "libzstd": "libzstd-dev",
             "liblz4": "liblz4-dev", "cmocka": "libcmocka-dev", "mpfr": "libmpfr-dev"}
# The packages of these that are not needed to build and run.
WORK = {"clang-19", "libcmocka-dev", "libmpfr-dev", "libclang-rt-19-dev", "gnuplot-nox", "clang-format-19", "clang-tidy-19", "lld"}
ALL = sorted([*TOOLS.values(), *LIBRARIES.values(), "libc6-dev", "pkg-config", "clang-19",
              "libclang-rt-19-dev"])


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.bin = self.root / "bin"
        for name in ("bin", "installed", "lists"):
            (self.root / name).mkdir()
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        self.fake("id", "echo ${FAKE_UID:-0}")
        self.fake("dpkg", "exit 0")
        self.fake("apt-cache", f"[ -e {self.root}/lists/$2 ] && echo '  Candidate: 1.0' || echo '  Candidate: (none)'")
        self.fake("apt-get", f"""
echo "$@" >> {self.root}/log
for word; do case $word in
update) touch {' '.join(f'{self.root}/lists/{p}' for p in ALL)};;
*-dev|*-19|*-nox|gcc|lld|meson|ninja-build|python3|pkg-config)
    [ -z "$FAKE_BROKEN" ] || exit 100
    touch {self.root}/installed/$word; sh {self.root}/appear $word;;
esac; done""")
        self.write_appear()

    def fake(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def write_appear(self):
        """A script that adds the commands of one package to the folder of commands."""
        rows = []
        for tool, package in TOOLS.items():
            rows.append(f"{package}) echo '#!/bin/sh' > {self.bin}/{tool}; echo '[ -z \"$2\" ] || "
                        f"[ -e {self.root}/installed/libc6-dev ]' >> {self.bin}/{tool};;")
        libraries = " ".join(f"{name}) f={package};;" for name, package in LIBRARIES.items())
        (self.root / "pkg-config").write_text(
            f"#!/bin/sh\ncase $2 in {libraries} esac\n[ -e {self.root}/installed/$f ]\n")
        rows.append(f"pkg-config) ln -sf {self.root}/pkg-config {self.bin}/pkg-config;;")
        (self.root / "clang").write_text(f"#!/bin/sh\necho {self.root}/clang-resources\n")
        rows.append(f"clang-19) ln -sf {self.root}/clang {self.bin}/clang-19;;")
        runtime = self.root / "clang-resources/lib/linux"
        runtime.mkdir(parents=True)
        rows.append(f"libclang-rt-19-dev) touch {runtime}/libclang_rt.fuzzer.a;;")
        (self.root / "appear").write_text(
            f"case $1 in\n{chr(10).join(rows)}\nesac\nchmod +x {self.bin}/* {self.root}/pkg-config "
            f"{self.root}/clang\n")
        (self.bin / "chmod").symlink_to(shutil.which("chmod"))
        (self.bin / "ln").symlink_to(shutil.which("ln"))

    def offer(self, *packages):
        for package in packages:
            (self.root / "lists" / package).touch()

    def install(self, *packages):
        for package in packages:
            (self.root / "installed" / package).touch()
            subprocess.run(["sh", self.root / "appear", package], check=True,
                           env={"PATH": str(self.bin)})

    def run_setup(self, *words, **variables):
        return subprocess.run([self.bin / "bash", SETUP, *words], env={"PATH": str(self.bin), **variables},
                              text=True, capture_output=True, stdin=subprocess.DEVNULL, check=False)

    def apt_calls(self):
        log = self.root / "log"
        return log.read_text().splitlines() if log.exists() else []

    def test_nothing_missing_says_and_does_nothing(self):
        self.install(*ALL)
        done = self.run_setup()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.apt_calls(), [])

    def test_only_what_is_missing_is_named_and_installed(self):
        self.offer(*ALL)
        self.install(*(p for p in ALL if p not in ("meson", "libmpfr-dev")))
        done = self.run_setup()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("meson                describes the build", done.stderr)
        self.assertNotIn("ninja-build", done.stderr)
        [call] = self.apt_calls()
        self.assertTrue(call.endswith("install -y --no-install-recommends meson libmpfr-dev"), call)

    def test_a_bare_system_gets_everything_after_one_update(self):
        done = self.run_setup()
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = self.apt_calls()
        self.assertEqual(len(calls), 2)
        self.assertTrue(calls[0].endswith("update"))
        self.assertEqual(sorted(calls[1].split("--no-install-recommends ")[1].split()), ALL)
        self.assertEqual(self.run_setup().stderr, "")

    def test_to_run_takes_no_more_than_running_needs(self):
        self.assertEqual(self.run_setup("run").returncode, 0)
        calls = self.apt_calls()
        self.assertEqual(sorted(calls[-1].split("--no-install-recommends ")[1].split()), sorted(set(ALL) - WORK))
        self.assertEqual(self.run_setup("run").stderr, "")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(sorted(self.apt_calls()[-1].split("--no-install-recommends ")[1].split()), sorted(WORK))

    def test_a_failed_installation_is_tried_once_more_and_then_reported(self):
        self.offer(*ALL)
        done = self.run_setup(FAKE_BROKEN="1")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual([call.split()[3] for call in self.apt_calls()],
                         ["install", "update", "install"])

    def test_a_user_without_sudo_is_told_what_to_run(self):
        self.offer(*ALL)
        done = self.run_setup(FAKE_UID="1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("run as root:  apt-get install --no-install-recommends gcc", done.stderr)
        self.assertEqual(self.apt_calls(), [])

    def test_sudo_is_used_and_asks_nothing_when_nobody_is_there(self):
        self.offer(*ALL)
        self.fake("sudo", f'echo "sudo $1" >> {self.root}/log; shift; exec "$@"')
        done = self.run_setup(FAKE_UID="1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("with sudo -n apt-get", done.stderr)
        self.assertEqual(self.apt_calls()[0], "sudo -n")

    def test_another_system_is_told_what_is_missing(self):
        os.unlink(self.bin / "apt-get")
        done = self.run_setup()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a Debian system", done.stderr)
        self.assertIn("libyaml-dev          reads machine files", done.stderr)

    def test_sources_without_the_packages_are_reported(self):
        self.fake("apt-cache", "echo '  Candidate: (none)'")
        done = self.run_setup()
        self.assertEqual(done.returncode, 1)
        self.assertIn("your package sources do not offer: gcc libc6-dev ", done.stderr)
        self.assertEqual(len(self.apt_calls()), 1)


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
