#!/usr/bin/env python3
"""A sweep whose workers and command are killed (SIGKILL) again and again ends with the same database, byte for byte, as
an undisturbed sweep. The test compares the view `canonical`: everything but when and where runs were made.

usage: test_sweep_kills.py TYTO PROGRAMS SIZES SCHEDULERS KILLS         that many of each of the three
"""
import hashlib
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("spmv", "vecadd", "transpose", "bfs")
SIZES = ("16KiB", "32KiB", "64KiB", "128KiB", "256KiB")
SCHEDULERS = ("lrr", "gto", "two-level", "pro", "ccws")
PATIENCE = 600  # seconds


def dump(database):
    """The bytes that must be equal."""
    connection = sqlite3.connect(database, timeout=60)
    try:
        rows = connection.execute("SELECT * FROM canonical").fetchall()
        failures = connection.execute("SELECT reason, output FROM failures").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except sqlite3.OperationalError:
        return [], ""
    finally:
        connection.close()
    assert not failures, f"a run that was killed is kept as one that failed: {failures}"
    return rows, hashlib.sha256(repr(rows).encode()).hexdigest()


def children(process):
    try:
        path = pathlib.Path(f"/proc/{process}/task/{process}/children")
        return [int(word) for word in path.read_text(encoding="utf-8").split()]
    except (FileNotFoundError, ProcessLookupError):  # ProcessLookupError: it ended between open and read
        return []


def main():
    tyto = pathlib.Path(sys.argv[1]).resolve()
    programs, sizes, schedulers, kills = map(int, sys.argv[2:6])
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
    draw, killed = random.Random(1), {"command": 0, "worker": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment["TMPDIR"] = name
        words = [str(tyto), "sweep", *PROGRAMS[:programs], "--set", "l1d.size=" + ",".join(SIZES[:sizes]),
                 "--schedulers", ",".join(SCHEDULERS[:schedulers]), "--sizes", "test", "--jobs", "2", "--machines", "gtx480"]

        def start(database):
            return subprocess.Popen([*words, "--database", database], cwd=folder, env=environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        whole, pace = start("right.sqlite"), time.monotonic()
        assert whole.wait(PATIENCE) == 0
        pace = (time.monotonic() - pace) / (programs * sizes * schedulers)
        right, wanted = dump(folder / "right.sqlite")
        assert len(right) == programs * sizes * schedulers, len(right)
        process, before = start("runs.sqlite"), []
        while sum(killed.values()) < kills:
            while process.poll() is None and not children(process.pid):  # it is still planning
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 3 * pace))
            if process.poll() is not None:  # the sweep ended before the kill: start again
                (folder / "runs.sqlite").unlink()
                process, before = start("runs.sqlite"), []
                continue
            running = children(process.pid)
            if running and draw.random() < 0.5:
                try:
                    os.kill(draw.choice(running), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                killed["worker"] += 1
                continue
            process.kill()
            process.wait()
            killed["command"] += 1
            now = dump(folder / "runs.sqlite")[0] if (folder / "runs.sqlite").exists() else []
            assert [row for row in before if row not in now] == [], "a finished run is lost"
            before = now
            process = start("runs.sqlite")
        process.wait(PATIENCE)
        last = start("runs.sqlite")
        assert last.wait(PATIENCE) == 0
        rows, got = dump(folder / "runs.sqlite")
        assert kills < 6 or min(killed.values()) > 0, killed
        print(f"{len(right)} runs; killed: {killed['command']} commands, {killed['worker']} workers; {wanted} {got}")
        assert rows == right and got == wanted
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
