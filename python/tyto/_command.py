"""Runs whole programs with the command tyto, each in its own process."""
import csv
import json
import pathlib
import signal
import subprocess
import tempfile
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._errors import TytoError
from ._library import command, options as option_words
from ._results import Comparison, Run, Sweep

Size = Union[str, int, None]
FOUND = 3  # status of a run that finished and in which the checks found errors


def _call(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Runs the command. Ctrl-C reaches the command too, which then ends as it does in a shell."""
    started = subprocess.Popen([command(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace")
    try:
        output, errors = started.communicate()
    except BaseException:
        started.send_signal(signal.SIGTERM)
        started.wait()
        raise
    return subprocess.CompletedProcess(words, started.returncode, output, errors)


def _fail(done: "subprocess.CompletedProcess[str]") -> TytoError:
    told = (done.stderr.strip() or done.stdout.strip() or f"tyto {done.args[0]}: status {done.returncode}")
    return TytoError(told.replace("tyto: error: ", "", 1) if told.startswith("tyto: error: ") else told, "command")


def _program(program: Union[str, "pathlib.Path"], size: Size, arguments: Sequence[object]) -> List[str]:
    if isinstance(arguments, (str, bytes)):
        raise TytoError(f"arguments: a list of words, not the text {arguments!r}", "bad option")
    return [str(program), *(["--size", str(size)] if size is not None else []), *map(str, arguments)]


def _check_own(own: str, options: Sequence[str], kept: str) -> None:
    """Rejects an option that the caller must not give, because it names the file that returns the result."""
    if any(str(word).split("=")[0] == own for word in options):
        raise TytoError(f"options: {own} is reserved, because it returns the result; {kept} contains it", "bad option")


def run(program: Union[str, "pathlib.Path"], machine: Optional[str] = None, scheduler: Any = None,
        cta_scheduler: Optional[str] = None, set: Optional[Mapping[str, object]] = None, size: Size = None,
        arguments: Sequence[object] = (), options: Sequence[str] = ()) -> Run:
    """Runs a workload of Tyto or any CUDA program.

    `set` changes values of the machine; `options` are further words of `tyto run`. The result's
    `output` is the program's output; its `errors` are the errors that checks (options=["--check", "race"]) found.
    Raises TytoError with the message of the command.
    """
    if scheduler is not None and not isinstance(scheduler, (str, pathlib.Path)):
        raise TytoError("scheduler: a program runs in its own process, which a scheduler in Python cannot reach; "
                        "pass the scheduler to tyto.Simulator or tyto.Kernel", "bad option")
    _check_own("--json", options, "the run's report")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        words = ["run", "--quiet", "--json", str(path)]
        words += option_words(machine, None if scheduler is None else str(scheduler), cta_scheduler, set, options)
        done = _call(words + _program(program, size, arguments))
        has_report = path.exists()
        if done.returncode and not (done.returncode == FOUND and has_report):
            raise _fail(done)
        if not has_report:
            raise TytoError(f"{program}: launched no kernel on Tyto; is it linked with the shared CUDA runtime?", "command")
        result = Run(json.loads(path.read_text(encoding="utf-8")), done.stdout)
        if done.returncode and not result.errors:  # the status is the program's own
            raise _fail(done)
        return result


def compare(program: Union[str, "pathlib.Path"], schedulers: Sequence[str] = ("lrr", "gto", "two-level"),
            machine: Optional[str] = None, cta_schedulers: Sequence[str] = (), set: Optional[Mapping[str, object]] = None,
            size: Size = None, arguments: Sequence[object] = (), options: Sequence[str] = (),
            jobs: Optional[int] = None) -> Comparison:
    """Runs a program under several schedulers. str() of the result is the table and the explanation that the command prints."""
    if isinstance(schedulers, str) or isinstance(cta_schedulers, str):
        raise TytoError("schedulers: a list of names, such as ['lrr', 'gto']", "bad option")
    if not schedulers and not cta_schedulers:
        raise TytoError("schedulers: the list is empty", "bad option")
    _check_own("--json", options, "each run's report")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "runs.json"
        words = ["compare", "--json", str(path)]
        for name, names in (("--schedulers", schedulers), ("--cta-schedulers", cta_schedulers)):
            words += [name, ",".join(map(str, names))] if names else []
        words += ["--jobs", str(jobs)] if jobs is not None else []
        words += option_words(machine, None, None, set, options)
        done = _call(words + _program(program, size, arguments))
        if done.returncode:
            raise _fail(done)
        runs = [Run(report) for report in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    return Comparison(runs, _labels(runs), done.stdout)


def _labels(runs: Sequence[Run]) -> List[str]:
    """Labels of the runs: the schedulers that differ between them."""
    ways = [(run.scheduler, run.cta_scheduler) for run in runs]
    several = [len({way[i] for way in ways}) > 1 for i in range(2)]
    if not any(several):
        several[0] = True
    return [" ".join(str(way[i]) for i in range(2) if several[i]) for way in ways]


def sweep(programs: Union[str, Sequence[str]], machines: Union[str, Sequence[str]] = (),
          schedulers: Union[str, Sequence[str]] = (), cta_schedulers: Union[str, Sequence[str]] = (),
          set: Optional[Mapping[str, Union[object, Sequence[object]]]] = None,
          sizes: Union[str, int, Sequence[Union[str, int]]] = "small", seeds: Union[int, Sequence[int]] = (),
          database: Union[str, "pathlib.Path"] = "tyto-runs.sqlite", jobs: Optional[int] = None,
          options: Sequence[str] = ()) -> Sweep:
    """Every combination of programs, machines, values, schedulers, sizes and seeds (tyto sweep).

    Finished runs are stored in `database`; an interrupted sweep resumes when it is repeated.
    """
    _check_own("--csv", options, "the sweep's rows")
    words = ["sweep"]
    for name, values in (("--machines", machines), ("--schedulers", schedulers), ("--cta-schedulers", cta_schedulers),
                         ("--sizes", sizes), ("--seeds", seeds)):
        listed = _listed(values)
        words += [name, ",".join(listed)] if listed else []
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={','.join(_listed(value))}"]
    words += ["--database", str(database)] + (["--jobs", str(jobs)] if jobs is not None else []) + list(options)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sweep.csv"
        done = _call(words + ["--csv", str(path)] + _listed(programs))
        if done.returncode:
            raise _fail(done)
        with open(path, encoding="utf-8", newline="") as file:
            return Sweep(list(csv.DictReader(file)))


def _listed(values: object) -> List[str]:
    if isinstance(values, (list, tuple, range)):
        return [str(value) for value in values]
    return [str(values)]
