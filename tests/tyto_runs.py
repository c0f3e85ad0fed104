"""Runs of the tyto command for the tests that look at whole runs."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

SEVEN = ("vecadd", "matmul", "reduction", "bfs", "spmv", "histogram", "transpose")
FIXED_ADDRESSES = ("setarch", "--addr-no-randomize")  # from util-linux: commands started with it have other addresses
HOST = re.compile(r',\s*"host": \{[^}]*\}')  # everything in a run's JSON that may differ from run to run
ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_MACHINE = re.search(r'TYTO_DEFAULT_MACHINE "(.*)"', (ROOT / "include/tyto/tyto.h").read_text(encoding="utf-8")).group(1)
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}


HAS_PTXAS = shutil.which("ptxas") is not None
# What a run on the default machine says on a host without ptxas.
NO_PTXAS = re.compile(r"tyto: warning: no machine code for sm_\d+: PTX runs instead, as there is no ptxas on the PATH\n")


def run_command(*arguments, **how):
    """subprocess.run, whose captured text has the same lines on a host without ptxas as with it."""
    done = subprocess.run(*arguments, **how)  # pylint: disable=subprocess-run-check
    for stream in ("stdout", "stderr"):
        text = getattr(done, stream)
        if not HAS_PTXAS and isinstance(text, str):
            setattr(done, stream, NO_PTXAS.sub("", text))
    return done


def many_runs(case):
    """For a test case of many runs, of code that other cases also run: it does not run under the sanitizers, except nightly."""
    return unittest.skipIf("TYTO_TESTS_EVERY" in os.environ, "many runs: under the sanitizers only nightly")(case)


def thinned(rows, first=0):
    """Every row; under the sanitizers of `make test` every Nth, from row number `first` on, as every_thin of tests/every.h does."""
    step = int(os.environ.get("TYTO_TESTS_EVERY", "1"))
    return [row for number, row in enumerate(rows) if number % step == first % step]


def hear_signals():
    """Makes commands started from now on die of these signals, which the caller (nohup, a shell's &) may have ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Tyto:
    def __init__(self, command):
        self.command = pathlib.Path(command).resolve()

    def output(self, *words, prefix=(), environment=None, folder=None):
        """Returns what the command prints; raises an error with its message if it fails."""
        done = subprocess.run([*prefix, self.command, *words], capture_output=True, text=True, check=False,
                              cwd=folder, env={**PLAIN, **(environment or {})})
        if done.returncode:
            raise RuntimeError(f"tyto {' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def run(self, *words, **how):
        """`tyto run WORDS`: what the program printed, and the JSON without its `host`."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            printed = self.output("run", "--quiet", "--json", str(path), *words, **how)
            return printed, HOST.sub("", path.read_text(encoding="utf-8"))

    def total(self, *words):
        """The counters of all launches of `tyto run WORDS` together."""
        return json.loads(self.run(*words)[1])["total"]

    def machines(self):
        """Names of the shipped machines."""
        heading, *lines = self.output("machines").splitlines()
        assert heading.startswith("machine "), heading
        return [line.split()[0] for line in lines]

    def dram_schedulers(self):
        """Names of the DRAM request schedulers, as the message about an unknown one lists them."""
        done = subprocess.run([self.command, "machines", "--set", "dram.scheduler=?", self.machines()[0]],
                              capture_output=True, text=True, check=False, env=PLAIN)
        return re.split(r", | or ", re.search(r"takes (.*), not '\?'", done.stderr).group(1))

    def schedulers(self):
        """Names of the warp schedulers and of the thread block schedulers."""
        warps, ctas = self.output("schedulers").split("CTA schedulers")
        return [re.findall(r"(?m)^  (\S+)$", part) for part in (warps, ctas)]


def in_parallel(function, rows):
    """[function(row) for row in rows], several at once."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, rows))
