#!/usr/bin/env python3
"""Plants a slowdown in a copy of the sources. bench/compare must find it and name the function, although it is inlined.

usage: planted_loss.py SOURCES

Builds the copy twice for release, with and without it.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "bench"))

from builds import FILES_AS_THEY_ARE, commit_of, make, unpack  # noqa: E402

# A function that every release build inlines into its caller.
FILE, FUNCTION = "src/partition/slice.c", "load_rop_head"
PLANTED = "\n    for (volatile int i = 0; i < 200; i++)\n        continue;"


def plant(tree):
    path = tree / FILE
    text = path.read_text(encoding="utf-8")
    begin = text.index("{", text.index(f"static void {FUNCTION}(")) + 1
    path.write_text(text[:begin] + PLANTED + text[begin:], encoding="utf-8")


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        tree, build = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "build"
        unpack(commit_of(FILES_AS_THEY_ARE), tree)
        plant(tree)
        make(tree, build)
        done = subprocess.run([ROOT / "bench" / "compare", FILES_AS_THEY_ARE, build, "--only", "spmv,vecadd", "--repeats", "1"],
                              text=True, capture_output=True, check=False)
    print(done.stdout + done.stderr)
    if done.returncode != 1:
        return f"compare ended with status {done.returncode}, not with 1"
    wanted = f"The function that lost most: {FILE.removeprefix('src/')} {FUNCTION}\n"
    return None if wanted in done.stdout else f"not said: {wanted}"


sys.exit(main())
