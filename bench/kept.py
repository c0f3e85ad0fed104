"""The history of the simulator's speed: rows of history.csv, one for each run of cases.py in each recorded commit.

The cost of a run is in instructions of the host's processor. They do not depend on how busy the host was, but they
depend on the compiler, so rows name it. Seconds are only informative, and comparable at most within a commit.
"""
import collections
import csv
import pathlib

from cases import CASES

HISTORY = pathlib.Path(__file__).resolve().parent / "history.csv"

# A run of a commit (its first letters and time): simulated warp instructions, the host's instructions for them,
# and the least processor time of several runs (before 27 November 2026, user time alone).
Row = collections.namedtuple("Row", "commit time compiler run warp_instructions host_instructions cpu_seconds")


def read():
    if not HISTORY.exists():
        return []
    with HISTORY.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write(rows):
    """Rows in the order of their commits' times, and for each commit in the order of the cases."""
    order = {case.name: i for i, case in enumerate(CASES)}
    with HISTORY.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(sorted(rows, key=lambda row: (row.time, row.commit, order.get(row.run, len(order)))))


def add(rows, new):
    """The rows with new ones, which replace those of the same commit and run."""
    replaced = {(row.commit, row.run) for row in new}
    return [row for row in rows if (row.commit, row.run) not in replaced] + list(new)


def commits(rows):
    """Commits in the order of time, each with its time and compiler."""
    return sorted({(row.commit, row.time, row.compiler) for row in rows}, key=lambda commit: commit[1])


def per_warp_instruction(rows):
    """(commit, run) -> the host's instructions per warp instruction"""
    return {(row.commit, row.run): int(row.host_instructions) / int(row.warp_instructions) for row in rows}
