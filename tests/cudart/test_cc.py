#!/usr/bin/env python3
"""Programs built by `tyto cc`, run by `tyto run`.

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


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(map(str, words)), done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def build_and_run(tyto, source, folder, *options):
    program = folder / source.stem
    return run(tyto, "cc", *options, "-O1", "-o", program, source) and \
        run(tyto, "run", "--functional", "--quiet", program)


def main(tyto, programs, *names):
    tyto = os.path.abspath(tyto)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in names:
            source = pathlib.Path(programs) / f"{name}.cu"
            ways = [("--clang",)]
            if name == "old_style":
                ways = [("--clang", "--old"), ("--old", "-arch=sm_20")] if shutil.which("nvcc") else [("--clang", "--old")]
            failed += [name for way in ways if not build_and_run(tyto, source, folder, *way)]
    print("failed:", *failed) if failed else print(f"{len(names)} programs built and run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
