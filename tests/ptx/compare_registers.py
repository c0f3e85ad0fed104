#!/usr/bin/env python3
"""Compares the register estimate with ptxas: tyto ptx --json FILE against ptxas -v, for every kernel.

usage: compare_registers.py TYTO MOST_PERCENT FILE...

Prints each kernel and the mean errors; fails if the mean relative error is above MOST_PERCENT.
Exit status 77 (skipped) when ptxas is not in PATH or in $CUDA_HOME/bin.
"""
import json
import os
import re
import shutil
import subprocess
import sys

OLDEST_TARGET = 75  # the oldest target that the ptxas of CUDA 13 supports
ENTRY = re.compile(r"Compiling entry function '(\S+)' .*?Used (\d+) registers", re.S)
TARGET = re.compile(r"^\.target\s+sm_(\d+)(\w?)", re.M)


def find_ptxas():
    folders = [os.environ.get("PATH", ""), os.path.join(os.environ.get("CUDA_HOME", ""), "bin")]
    return shutil.which("ptxas", path=os.pathsep.join(folders))


def reported(ptxas, path):
    """Register count of each kernel according to ptxas; empty if ptxas rejects the file."""
    with open(path, encoding="latin-1") as file:
        target = TARGET.search(file.read())
    number = max(int(target[1]), OLDEST_TARGET)
    run = subprocess.run([ptxas, "-v", f"-arch=sm_{number}{target[2]}", path, "-o", os.devnull],
                         capture_output=True, text=True)
    return {name: int(count) for name, count in ENTRY.findall(run.stderr)}


def estimated(tyto, path):
    run = subprocess.run([tyto, "ptx", "--json", path], capture_output=True, text=True, check=True)
    return {kernel["name"]: kernel["registers"] for kernel in json.loads(run.stdout)["kernels"]}


def main():
    tyto, most_percent, files = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    ptxas = find_ptxas()
    if not ptxas:
        print("ptxas is not installed, so the register estimate is not compared with it")
        return 77
    pairs = []
    for path in files:
        truth = reported(ptxas, path)
        for name, estimate in estimated(tyto, path).items():
            if name in truth:
                pairs.append((estimate, truth[name]))
                print(f"{os.path.basename(path):40} {name[:40]:40} estimate {estimate:3} "
                      f"ptxas {truth[name]:3}")
    errors = [estimate - truth for estimate, truth in pairs]
    percent = 100 * sum(abs(e) / truth for e, (_, truth) in zip(errors, pairs)) / len(pairs)
    print(f"{len(pairs)} kernels: mean error {sum(errors) / len(pairs):+.2f} registers, mean absolute "
          f"error {sum(map(abs, errors)) / len(pairs):.2f} registers, {percent:.1f}%")
    return 0 if percent <= most_percent else 1


if __name__ == "__main__":
    sys.exit(main())
