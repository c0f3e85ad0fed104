#!/usr/bin/env python3
"""PTX of other projects: the share of the files accepted by NVIDIA's assembler that Tyto reads.

usage: public_ptx.py TYTO [LEAST]

The environment variable TYTO_PUBLIC_PTX names folders, separated by colons, in which *.ptx files are looked for, at
any depth. A file counts as read when `tyto ptx` accepts it and every kernel in it can run. Each other file is listed.
Fails below LEAST percent (98) of a folder; skipped without the variable or without ptxas.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

OLDEST = 75  # the first architecture that ptxas of CUDA 13 supports
SKIPPED = 77


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


def architecture_of(text):
    """Architecture for ptxas: that of the file, or the oldest supported one. Letters (sm_90a) are kept only for the
    file's own."""
    target = re.search(r"(?m)^\s*\.target\s+sm_(\d+)([af]?)", text)
    number = int(target.group(1)) if target else OLDEST
    return f"sm_{number}{target.group(2)}" if number >= OLDEST and target else f"sm_{OLDEST}"


def is_taken(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    return run("ptxas", "-arch", architecture_of(text), "-o", os.devnull, path).returncode == 0


def complaint(tyto, path):
    """The first line that says why the file, or a kernel of it, cannot run; None if there is none."""
    done = run(tyto, "ptx", path)
    if done.returncode:
        return (done.stderr.splitlines() or [f"status {done.returncode}"])[0]
    return next((line.strip() for line in done.stdout.splitlines() if line.lstrip().startswith("cannot run:")), None)


def measure(tyto, folder, least):
    taken = read = 0
    files = sorted(folder.rglob("*.ptx"))
    for path in files:
        if not is_taken(path):
            continue
        taken += 1
        why = complaint(tyto, path)
        read += why is None
        if why is not None:
            print(f"{path}: {why}")
    print(f"{folder}: {len(files)} files; ptxas takes {taken}, of which Tyto reads {read}")
    return taken > 0 and 100 * read >= least * taken


def main(tyto, least="98"):
    folders = [pathlib.Path(name) for name in os.environ.get("TYTO_PUBLIC_PTX", "").split(":") if name]
    if not folders or not shutil.which("ptxas"):
        print("skipped: TYTO_PUBLIC_PTX is not set, or there is no ptxas")
        return SKIPPED
    results = [measure(tyto, folder, float(least)) for folder in folders]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
