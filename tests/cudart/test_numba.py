#!/usr/bin/env python3
"""Numba's kernels, functionally and timed, under `tyto run` without further settings.

usage: test_numba.py TYTO SCRIPT...

Each SCRIPT checks its results on the CPU and prints "ok". Skipped if there is no Python with Numba (Debian:
python3-numba), or no CUDA toolkit with a libnvvm that Numba can use.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
MODES = (("--functional",), ("--scheduler", "gto"))
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith(("TYTO_", "NUMBA_")) and key != "LD_LIBRARY_PATH"}


def find_python():
    """A Python that has Numba; another one in PATH may hide Debian's."""
    for python in ("python3", "/usr/bin/python3"):
        probe = subprocess.run([python, "-c", "import numba.cuda"], capture_output=True, check=False)
        if probe.returncode == 0:
            return python
    return None


def main(tyto, *scripts):
    python = find_python()
    if not python:
        print("no Python here has Numba (Debian: python3-numba)")
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "run.json"
        for script in scripts:
            for mode in MODES:
                done = subprocess.run([tyto, "run", *mode, "--json", report, python, "-W", "ignore", script],
                                      capture_output=True, text=True, check=False, env=PLAIN)
                if "there is no libnvvm in" in done.stderr:
                    print(next(line for line in done.stderr.splitlines() if "no libnvvm" in line))
                    return SKIPPED
                is_right = done.returncode == 0 and done.stdout == "ok\n" and report.exists()
                print("right" if is_right else f"wrong: {done.stdout}{done.stderr}", script, *mode)
                failed += not is_right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
