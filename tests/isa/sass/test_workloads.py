#!/usr/bin/env python3
"""Runs the workloads as machine code that ptxas makes of their PTX. Each verifies its own results.

usage: test_workloads.py BUILD

They run functionally on each device in DEVICES, and some of them also timed. Skipped (status 77) without ptxas. A
workload whose PTX is for a newer architecture than the device's runs its PTX, which is not a failure."""
import os
import pathlib
import shutil
import subprocess
import sys

DEVICES = ("7.5", "8.0", "8.9", "9.0")  # compute capabilities
TIMED = ("vecadd", "matmul", "bfs", "reduction", "histogram", "scan")  # on h100
LEFT_OUT = {"micro", "mmicro"}  # they print times
SKIPPED = 77


def run(build: pathlib.Path, program: pathlib.Path, options: str) -> str:
    """A description of the failure; "" if the results are right."""
    environment = dict(os.environ, TYTO_OPTIONS=f"--quiet --code machine {options}", LD_LIBRARY_PATH=str(build))
    done = subprocess.run([program, "--size", "test"], env=environment, capture_output=True, text=True)
    if done.returncode == 0 and "verified" in done.stdout:
        return ""
    return f"{program.name} {options}: status {done.returncode}\n{done.stdout[-400:]}{done.stderr[-400:]}"


def main() -> int:
    if not shutil.which("ptxas"):
        print("skipped: there is no ptxas")
        return SKIPPED
    build = pathlib.Path(sys.argv[1])
    programs = sorted(ptx.with_suffix("") for ptx in (build / "workloads").glob("*.ptx") if ptx.with_suffix("").is_file())
    programs = [program for program in programs if program.name not in LEFT_OUT]
    wrong = [run(build, program, f"--functional --compute-capability {device}") for device in DEVICES for program in programs]
    wrong += [run(build, build / "workloads" / name, "--machine h100") for name in TIMED]
    failures = [text for text in wrong if text]
    print("\n".join(failures))
    print(f"{len(wrong) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
