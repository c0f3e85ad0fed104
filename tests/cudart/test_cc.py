#!/usr/bin/env python3
"""Programs built by `tyto cc`, run by `tyto run`, functionally and in detail.

usage: test_cc.py TYTO PROGRAMS NAME...

PROGRAMS is the folder of our CUDA programs; each NAME among them is built with clang. old_style is
built with --old, and with nvcc as well where that is found.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCHEDULERS = ("lrr", "gto", "two-level", "ccws", "pro", "owl")  # each program runs under the next


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(map(str, words)), done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def build_and_run(tyto, source, folder, options, scheduler):
    """How many of the two runs of a program fail."""
    program = folder / source.stem
    modes = (("--functional",), ("--machine", "gtx480", "--scheduler", scheduler))
    if not run(tyto, "cc", *options, "-O1", "-o", program, source):
        return len(modes)
    return sum(not run(tyto, "run", "--quiet", *mode, program) for mode in modes)


def main(tyto, programs, *names):
    tyto = os.path.abspath(tyto)
    rows = [(name, ("--clang", "--old") if name == "old_style" else ("--clang",)) for name in names]
    if "old_style" in names and shutil.which("nvcc"):
        rows.append(("old_style", ("--old", "-arch=sm_20")))
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(build_and_run(tyto, pathlib.Path(programs) / f"{name}.cu", pathlib.Path(folder), options,
                                   SCHEDULERS[i % len(SCHEDULERS)])
                     for i, (name, options) in enumerate(rows))
    print(f"{2 * len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
