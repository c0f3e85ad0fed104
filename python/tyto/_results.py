"""Results of runs: objects, DataFrames (with pandas) and plots (with matplotlib)."""
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ._errors import TytoError
from ._library import nearest
from ._machines import counters
from ._needs import need

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

Number = Optional[float]


class Run(Mapping[str, Any]):
    """A run: its counters and ratios by name, over all launches. `kernels` has those of each launch.

    Counters that a run does not have are None.
    """

    def __init__(self, report: Mapping[str, Any], output: str = "") -> None:
        self.report = dict(report)
        self.output = output

    @property
    def program(self) -> str:
        return str(self.report["program"])

    @property
    def machine(self) -> Optional[str]:
        return self._name("machine")

    @property
    def scheduler(self) -> Optional[str]:
        return self._name("scheduler")

    @property
    def cta_scheduler(self) -> Optional[str]:
        return self._name("cta_scheduler")

    def _name(self, key: str) -> Optional[str]:
        value = self.report.get(key)
        return None if value is None else str(value)

    @property
    def total(self) -> Dict[str, Any]:
        return dict(self.report["total"])

    @property
    def errors(self) -> List[Dict[str, Any]]:
        """The errors that checks found: `check`, `message`, `count` and more for each place."""
        return list(self.report["errors"])

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        return list(self.report["kernels"])

    def __getitem__(self, counter: str) -> Any:
        total = self.report["total"]
        if counter in total:
            return total[counter]
        known = counters()
        if counter in known:
            return None
        near = nearest(counter, [*total, *known])
        meant = f"; did you mean {near!r}?" if near else ""
        raise KeyError(f"{counter}: there is no such counter{meant or '; tyto.counters() lists them all'}")

    def __contains__(self, counter: object) -> bool:
        return counter in self.report["total"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.report["total"])

    def __len__(self) -> int:
        return len(self.report["total"])

    def __repr__(self) -> str:
        cycles = self.report["total"].get("cycles")
        took = "functional" if cycles is None else f"{cycles:,} cycles, IPC {self.report['total']['ipc'] or 0:.2f}"
        return f"<tyto.Run {self.program} on {self.machine} under {self.scheduler}: {took}>"

    def frame(self) -> "pandas.DataFrame":
        """A row for each launch."""
        need("pandas", "a frame")
        import pandas

        return pandas.DataFrame(self.kernels)


class Comparison(Sequence[Run]):
    """Runs side by side, in the order of their schedulers; the others are compared with the first."""

    def __init__(self, runs: Sequence[Run], labels: Sequence[str], text: str = "") -> None:
        self.runs = list(runs)
        self.labels = list(labels)
        self.text = text

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, key: Any) -> Any:
        """A run, by its index or by its scheduler."""
        if isinstance(key, str):
            if key not in self.labels:
                raise KeyError(f"{key}: there is no such run, only {', '.join(self.labels)}")
            return self.runs[self.labels.index(key)]
        return self.runs[key]

    def __repr__(self) -> str:
        return f"<tyto.Comparison of {', '.join(self.labels)}>"

    def __str__(self) -> str:
        return self.text or repr(self)

    def speedup(self) -> Dict[str, float]:
        """The cycles of the first run divided by those of each run."""
        return {label: self.runs[0]["cycles"] / run["cycles"] for label, run in zip(self.labels, self.runs)}

    def frame(self) -> "pandas.DataFrame":
        """A row for each run, a column for each counter, and the speed-up."""
        need("pandas", "a frame")
        import pandas

        frame = pandas.DataFrame([run.total for run in self.runs], index=pandas.Index(self.labels, name="scheduler"))
        return frame.assign(speedup=pandas.Series(self.speedup()))

    def plot(self, metric: str = "speedup", axes: "Optional[matplotlib.axes.Axes]" = None) -> "matplotlib.axes.Axes":
        """Plots bars of a counter; bars of the speed-up begin at 1."""
        from ._plots import bars

        values = self.speedup() if metric == "speedup" else {
            label: run[metric] for label, run in zip(self.labels, self.runs)}
        return bars(values, metric, axes)


class Sweep:
    """The runs of a sweep, with a row for each: the values that vary, and every counter."""

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self.rows: List[Dict[str, Any]] = [{key: _number(value) for key, value in row.items()} for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<tyto.Sweep of {len(self.rows)} runs>"

    def frame(self) -> "pandas.DataFrame":
        """A row for each run."""
        need("pandas", "a frame")
        import pandas

        return pandas.DataFrame(self.rows)

    def plot(self, x: str, metric: str = "ipc", by: str = "scheduler",
             axes: "Optional[matplotlib.axes.Axes]" = None) -> "matplotlib.axes.Axes":
        """Plots lines of a counter along the column `x`, one for each value of `by`; only marks if `x` is not numeric."""
        from ._plots import lines

        for key in (x, metric, by):
            if self.rows and key not in self.rows[0]:
                raise TytoError(f"{key}: there is no such column, only {', '.join(self.rows[0])}")
        return lines(self.rows, x, metric, by, axes)


def _number(value: str) -> Any:
    """A number if the text is one; None if the text is empty."""
    if value == "":
        return None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value
