#!/usr/bin/env python3
"""What the literature says about machine `ccws` [CCWS section 5].

Kernels of scattered loads (BFS, SpMV) lose IPC under loose round-robin compared with greedy-then-oldest. matmul hardly
changes, because its tiles hit in any order. The inputs must be large enough: a BFS whose graph fits into the L1Ds loses
nothing, and a matmul with few CTAs per SM changes by up to 15%, because under lrr they all end at once.

usage: test_behaviour.py TYTO
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tyto_runs import Tyto, in_parallel  # noqa: E402 (found by the line above)

# workload, size, minimum and maximum of IPC under lrr relative to gto
ROWS = (("bfs", "65536", 0, 0.95), ("spmv", "32768", 0, 0.90), ("matmul", "384", 0.95, 1.05))


def main(command):
    tyto = Tyto(command)
    failed = 0
    runs = [(row[0], row[1], scheduler) for row in ROWS for scheduler in ("lrr", "gto")]
    counted = in_parallel(lambda run: tyto.total("--machine", "ccws", "--scheduler", run[2], run[0], "--size", run[1]), runs)
    for number, (workload, size, least, greatest) in enumerate(ROWS):
        lrr, gto = counted[2 * number:2 * number + 2]
        share = lrr["ipc"] / gto["ipc"]
        is_good = least <= share <= greatest
        failed += not is_good
        print(f"{workload} --size {size}: IPC {lrr['ipc']:.2f} under lrr, {gto['ipc']:.2f} under gto, "
              f"ratio {share:.3f} ({least} to {greatest}), L1D misses {lrr['l1d_miss_rate']:.1%} and "
              f"{gto['l1d_miss_rate']:.1%}{'' if is_good else ': WRONG'}")
    print(f"{len(ROWS) - failed} passed, {failed} failed")
    return bool(failed)


sys.exit(main(sys.argv[1]))
