"""The history of the simulator's speed: rows of history.csv, one for each run of cases.py in each recorded commit.

What a run cost is in instructions of the host's processor, which do not depend on how busy the host was; on its compiler
they do, which is therefore told. Seconds are information: they compare within a commit at best.
"""
import collections
import csv
import pathlib

from cases import CASES

HISTORY = pathlib.Path(__file__).resolve().parent / "history.csv"

# Of a commit (its first letters and time), a run of it: warp instructions simulated, instructions of the host for them,
# and the least processor time of several runs (before 27 November 2026, user time alone).
Row = collections.namedtuple("Row", "commit time compiler run warp_instructions host_instructions cpu_seconds")


def read():
    if not HISTORY.exists():
        return []
    with HISTORY.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write(rows):
    """Rows in the order of their commits' times, of a commit in the order of the cases."""
    order = {case.name: i for i, case in enumerate(CASES)}
    with HISTORY.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(sorted(rows, key=lambda row: (row.time, row.commit, order.get(row.run, len(order)))))


def add(rows, new):
    """The rows with new ones, in place of those of the same commit and run."""
    replaced = {(row.commit, row.run) for row in new}
    return [row for row in rows if (row.commit, row.run) not in replaced] + list(new)


def commits(rows):
    """Commits in the order of time, each with its time and compiler."""
    return sorted({(row.commit, row.time, row.compiler) for row in rows}, key=lambda commit: commit[1])


def per_warp_instruction(rows):
    """(commit, run) -> instructions of the host for a warp instruction"""
    return {(row.commit, row.run): int(row.host_instructions) / int(row.warp_instructions) for row in rows}
