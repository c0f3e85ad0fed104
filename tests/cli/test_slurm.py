#!/usr/bin/env python3
"""tyto sweep on a real Slurm cluster of one node.

The test starts the cluster in a folder of its own, and kills (SIGKILL) its daemons, the workers and the command.

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
from slurm_cluster import Cluster, missing, processes_with
from test_sweep_kills import PROGRAMS, SCHEDULERS, SIZES, dump

TYTO = pathlib.Path(sys.argv[1]).resolve()
KILLS, *GRID = (int(word) for word in sys.argv[2:6]) if len(sys.argv) > 2 else (6, 2, 3, 2)
SECONDS = 1800  # default limit; a requeued task alone waits for two minutes


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
        words = ("spmv", "vecadd --size 300", "--set", "l1d.size=16KiB,32KiB", "--schedulers", "lrr,gto", "--sizes", "test",
                 "--machines", "gtx480")
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

    def test_a_result_that_cannot_be_written_is_no_failure_of_the_program(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\ntest -e good || ulimit -f 1; exec "$WORKLOADS/vecadd" --size 100\n', encoding="utf-8")
        program.chmod(0o755)
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        words = ("./program", "--engine", "slurm")
        status, _, said = self.sweep(*words, **variables)
        self.assertEqual(status, 1)
        self.assertIn("could not write its result:\n", said)
        self.assertIn("1 of 1 runs are missing\n", said)
        (self.folder / "good").touch()
        self.assertEqual(self.sweep(*words, **variables)[0], 0)

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
        self.assertIn("interrupted; finished runs are stored", said)
        for _ in range(300):
            if not self.cluster.ask("squeue", "-h"):
                return
            time.sleep(0.1)
        self.fail("the job is still there")

    def workers(self):
        """Processes of runs. Their environment has the path of the result file."""
        return processes_with(f"{self.folder}/runs.sqlite.slurm/")

    def test_no_task_is_doubled_while_the_controller_is_away(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\nwhile ! test -e go; do sleep 0.1; done; echo >>ran; exec "$WORKLOADS/vecadd" --size "$1"\n',
                           encoding="utf-8")
        program.chmod(0o755)
        meeting = self.folder / "runs.sqlite.slurm"
        words = ("./program {size}", "--sizes", "100,200,300", "--engine", "slurm", "--database", "runs.sqlite")
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        first = self.start(*words, **variables)
        self.await_that(lambda: self.cluster.ask("squeue", "-h", "-t", "running", "-r").count("\n") == 2)
        token = next(meeting.glob("*.list")).stem
        self.await_that(lambda: self.cluster.has_saved(token))
        first.kill()
        first.communicate()
        self.cluster.kill("slurmctld")
        (self.folder / "go").touch()
        self.await_that(lambda: len(list(meeting.glob("*.end"))) == 2)
        for end in meeting.glob("*.end"):  # as Slurm does with a task that it considers lost
            self.assertEqual(subprocess.run(["sh", end.with_suffix(".sh")], env={**self.environment, **variables},
                                            check=False).returncode, 0)
        second = self.start(*words, **variables)
        self.await_that(lambda: not list(meeting.glob("*.end")))
        self.cluster.start("slurmctld")
        second.communicate(timeout=SECONDS)
        self.assertEqual((second.returncode, len(list(meeting.glob("*.list")))), (0, 1))
        self.assertEqual((self.folder / "ran").read_text(encoding="utf-8"), "\n" * 3)

    def test_a_task_too_many_that_ends_late_leaves_nothing_that_a_later_sweep_takes_for_its_own(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\ntest -e late && while ! test -e go; do sleep 0.1; done\n'
                           'touch late; while ! test -e doubled; do sleep 0.1; done; exec "$WORKLOADS/vecadd" --size "$1"\n',
                           encoding="utf-8")
        program.chmod(0o755)
        meeting = self.folder / "runs.sqlite.slurm"
        words = ("./program {size}", "--sizes", "100", "--engine", "slurm", "--database", "runs.sqlite")
        variables = {"WORKLOADS": str(TYTO.parent / "workloads")}
        first = self.start(*words, **variables)
        self.await_that((self.folder / "late").exists)
        script = next(meeting.glob("*.sh"))
        double = subprocess.Popen(["sh", script], env={**self.environment, **variables})
        self.await_that(lambda: next(iter(meeting.glob(f"{script.stem}.out.{double.pid}")), None))
        (self.folder / "doubled").touch()
        self.assertEqual((*first.communicate(timeout=SECONDS), first.returncode)[1:], ("", 0))
        (self.folder / "go").touch()
        self.assertEqual(double.wait(timeout=SECONDS), 0)
        self.assertEqual(list(meeting.glob("*.end")) + list(meeting.glob("*.out*")), [])
        (self.folder / "runs.sqlite").unlink()
        status, _, said = self.sweep(*words, **variables)
        self.assertEqual((status, said), (0, ""))

    def test_a_task_that_slurm_holds_after_a_failed_start_is_submitted_again(self):
        refusing = self.cluster.folder / "refusing"
        refusing.touch()
        process = self.start("vecadd --size 100", "--engine", "slurm")
        self.await_that(lambda: "held" in self.cluster.ask("squeue", "-h", "-r", "-o", "%r"))
        refusing.unlink()
        _, said = process.communicate(timeout=SECONDS)
        self.assertEqual((process.returncode, said, self.cluster.ask("squeue", "-h")), (0, "", ""))

    def await_that(self, condition):
        for _ in range(SECONDS * 10):
            if condition():
                return
            time.sleep(0.1)
        self.fail("that never comes")

    def test_whatever_is_killed_the_database_is_the_same(self):
        kinds = ("worker", "command", "slurmd", "slurmctld")
        draw, killed, rounds = random.Random(1), dict.fromkeys(kinds, 0), 0
        programs, sizes, schedulers = GRID
        words = (*PROGRAMS[:programs], "--set", "l1d.size=" + ",".join(SIZES[:sizes]), "--schedulers",
                 ",".join(SCHEDULERS[:schedulers]), "--sizes", "test", "--machines", "gtx480")
        self.assertEqual(self.sweep(*words, "--database", "right.sqlite")[0], 0)
        right = dump(self.folder / "right.sqlite")
        words = (*words, "--engine", "slurm", "--database", "runs.sqlite")
        process, before = self.start(*words), []

        def is_under_way():
            """Whether a run is in progress. Restarts a sweep that has ended, before the kill or because of it."""
            nonlocal process, before, rounds
            if process.poll() is not None:
                process.communicate()
                if len(dump(self.folder / "runs.sqlite")[0]) == len(right[0]):
                    (self.folder / "runs.sqlite").unlink()
                    rounds, before = rounds + 1, []
                process = self.start(*words)
            return self.workers()

        plan = [kinds[i % len(kinds)] for i in range(KILLS)]
        draw.shuffle(plan)
        while plan:
            self.await_that(is_under_way)
            time.sleep(draw.uniform(0, 1))
            if plan[-1] == "worker":
                running = self.workers()
                if not running:
                    continue
                try:
                    os.kill(draw.choice(running), signal.SIGKILL)
                except ProcessLookupError:
                    continue
            elif plan[-1] == "command":
                process.kill()
                process.communicate()
                now = dump(self.folder / "runs.sqlite")[0] if (self.folder / "runs.sqlite").exists() else []
                self.assertEqual([row for row in before if row not in now], [], "a finished run is lost")
                before = now
                process = self.start(*words)
            else:
                self.cluster.kill(plan[-1])
                time.sleep(draw.uniform(0, 1))
                self.cluster.start(plan[-1])
            killed[plan.pop()] += 1
        process.communicate(timeout=SECONDS)
        status, _, said = self.sweep(*words)
        got = dump(self.folder / "runs.sqlite")
        print(f"{len(right[0])} runs; killed: {json.dumps(killed)}, begun anew {rounds} times, node resumed "
              f"{self.cluster.resumed} times; {right[1]} {got[1]}")
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
