#!/usr/bin/env python3
"""tyto sweep on a real Slurm cluster of one node, which this test starts in a folder of its own, and whose parts,
workers and command it kills (SIGKILL).

usage: test_slurm.py TYTO [KILLS PROGRAMS SIZES SCHEDULERS]
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from slurm_cluster import Cluster, missing
from test_sweep_kills import PROGRAMS, SCHEDULERS, SIZES, dump

TYTO = pathlib.Path(sys.argv[1]).resolve()
KILLS, *GRID = (int(word) for word in sys.argv[2:6]) if len(sys.argv) > 2 else (6, 2, 3, 2)
SECONDS = 900


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.home = pathlib.Path(holder.name)
        (cls.home / "cluster").mkdir()
        cls.cluster = Cluster(cls.home / "cluster").open()
        cls.addClassCleanup(cls.cluster.close)
        cls.environment = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
        cls.environment.update(cls.cluster.environment)

    def setUp(self):
        holder = tempfile.TemporaryDirectory(dir=self.home)
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def start(self, *words, **variables):
        return subprocess.Popen([TYTO, "sweep", *words], cwd=self.folder, env={**self.environment, **variables}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def sweep(self, *words, **variables):
        process = self.start(*words, **variables)
        shown, said = process.communicate(timeout=SECONDS)
        return process.returncode, shown, said

    def test_the_same_as_local(self):
        words = ("spmv", "vecadd --size 300", "--set", "l1d.size=16KiB,32KiB", "--schedulers", "lrr,gto", "--sizes", "test")
        status, remote, said = self.sweep(*words, "--engine", "slurm", "--database", "a.sqlite")
        self.assertEqual((status, said), (0, ""))
        status, local, said = self.sweep(*words, "--database", "b.sqlite")
        self.assertEqual((status, said, remote), (0, "", local))
        self.assertEqual(dump(self.folder / "a.sqlite"), dump(self.folder / "b.sqlite"))
        left = {path.suffix for path in (self.folder / "a.sqlite.slurm").iterdir()}
        self.assertLessEqual(left, {".array", ".list"})

    def test_a_failure_is_told_kept_and_tried_again(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\ntest -e good && exec "$WORKLOADS/vecadd" --size 100; echo "it'"'"'s \\"so\\""; exit 3\n',
                           encoding="utf-8")
        program.chmod(0o755)
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        words = ("./program", "--engine", "slurm")
        status, _, said = self.sweep(*words, **variables)
        self.assertEqual(status, 1)
        self.assertIn('failed with status 3:\nit\'s "so"\n', said)
        self.assertIn("1 of 1 runs failed; the same command with --retry", said)
        (self.folder / "good").touch()
        self.assertEqual(self.sweep(*words, **variables)[0], 1)
        self.assertEqual(self.sweep(*words, "--retry", **variables)[0], 0)

    def test_another_terminal_sees_the_queue(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\nwhile ! test -e go; do sleep 0.1; done; exec "$WORKLOADS/vecadd" --size "$1"\n',
                           encoding="utf-8")
        program.chmod(0o755)
        words = ("./program {size}", "--sizes", "100,200,300", "--engine", "slurm")
        process = self.start(*words, WORKLOADS=str(TYTO.parent / "workloads"))
        seen = ""
        for _ in range(60):
            watcher = self.start(*words, "--watch")
            seen = watcher.stdout.readline()
            watcher.kill()
            watcher.communicate()
            if "2 running, 1 waiting" in seen:
                break
            time.sleep(0.3)
        self.assertIn("0 of 3 runs done, 2 running, 1 waiting", seen)
        (self.folder / "go").touch()
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 0)

    def test_an_interrupt_takes_the_rest_back(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\nsleep 600\n", encoding="utf-8")
        program.chmod(0o755)
        process = self.start("./program", "--engine", "slurm")
        for _ in range(300):
            if self.cluster.ask("squeue", "-h"):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
        self.assertIn("interrupted; what has finished is kept", said)
        for _ in range(300):
            if not self.cluster.ask("squeue", "-h"):
                return
            time.sleep(0.1)
        self.fail("the job is still there")

    def workers(self):
        """Processes of runs, which have their result's file in the environment."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{self.folder}/runs.sqlite.slurm/".encode() in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                pass
        return found

    def test_whatever_is_killed_the_database_is_the_same(self):
        draw, killed = random.Random(1), {"command": 0, "worker": 0, "slurmd": 0, "slurmctld": 0}
        programs, sizes, schedulers = GRID
        words = (*PROGRAMS[:programs], "--set", "l1d.size=" + ",".join(SIZES[:sizes]), "--schedulers",
                 ",".join(SCHEDULERS[:schedulers]), "--sizes", "test")
        self.assertEqual(self.sweep(*words, "--database", "right.sqlite")[0], 0)
        right = dump(self.folder / "right.sqlite")
        words = (*words, "--engine", "slurm", "--database", "runs.sqlite")
        process, before, rounds = self.start(*words), [], 0
        while sum(killed.values()) < KILLS:
            time.sleep(draw.uniform(0.5, 2.5))
            if process.poll() is not None:
                process.communicate()
                rows = dump(self.folder / "runs.sqlite")[0]
                if len(rows) == len(right[0]):  # faster than the killing: begun anew
                    (self.folder / "runs.sqlite").unlink()
                    rounds, before = rounds + 1, []
                process = self.start(*words)
                continue
            what = draw.choice(("command", "worker", "slurmd", "slurmctld"))
            if what == "worker":
                running = self.workers()
                if not running:
                    continue
                try:
                    os.kill(draw.choice(running), signal.SIGKILL)
                except ProcessLookupError:
                    continue
            elif what == "command":
                process.kill()
                process.communicate()
                now = dump(self.folder / "runs.sqlite")[0] if (self.folder / "runs.sqlite").exists() else []
                self.assertEqual([row for row in before if row not in now], [], "a finished run is lost")
                before = now
                process = self.start(*words)
            else:
                self.cluster.kill(what)
                time.sleep(draw.uniform(0, 1))
                self.cluster.start(what)
            killed[what] += 1
        process.communicate(timeout=SECONDS)
        status, _, said = self.sweep(*words)
        got = dump(self.folder / "runs.sqlite")
        print(f"{len(right[0])} runs; killed: {json.dumps(killed)}, begun anew {rounds} times; {right[1]} {got[1]}")
        self.assertEqual((status, got), (0, right), said)


if __name__ == "__main__":
    WHY = missing()
    if WHY:
        print(f"skipped: {WHY}\n0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
