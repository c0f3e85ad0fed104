#!/usr/bin/env python3
"""Timing changes no result: the seven workloads verify and print what they do in functional mode, under
every warp scheduler and every thread block scheduler that `tyto schedulers` lists.

usage: test_results.py TYTO MACHINE...      on these machines; `all` is every one
"""
import json
import sys
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import MACHINES, SEVEN, Tyto, in_parallel  # noqa: E402 (found by the line above)

SIZE = ("--size", "test")


def check(tyto, functional, row):
    """None, or what is wrong with the run of a row."""
    machine, option, scheduler, workload = row
    name = f"{workload} on {machine} under {scheduler}"
    try:
        printed, text = tyto.run("--machine", machine, option, scheduler, workload, *SIZE)
    except RuntimeError as error:
        return f"{name}: {error}"
    if printed != functional[workload][0]:
        return f"{name} printed {printed!r}"
    kernels = [json.loads(run)["kernels"] for run in (text, functional[workload][1])]
    shapes = [[(kernel["kernel"], kernel["grid"], kernel["status"]) for kernel in run] for run in kernels]
    return None if shapes[0] == shapes[1] else f"{name} launched {shapes[0]}, not {shapes[1]}"


def main(command, machines):
    tyto = Tyto(command)
    functional = {workload: tyto.run("--functional", workload, *SIZE) for workload in SEVEN}
    warps, ctas = tyto.schedulers()
    rows = [(machine, option, scheduler, workload)
            for machine in (MACHINES if machines == ["all"] else machines)
            for option, schedulers in (("--scheduler", warps), ("--cta-scheduler", ctas))
            for scheduler in schedulers for workload in SEVEN]
    wrong = [what for what in in_parallel(lambda row: check(tyto, functional, row), rows) if what]
    print("\n".join(wrong + [f"{len(rows) - len(wrong)} passed, {len(wrong)} failed"]))
    return bool(wrong)


sys.exit(main(sys.argv[1], sys.argv[2:]))
