"""Plots with matplotlib, in colours that the colour-blind can distinguish (Okabe and Ito, 2008)."""
import re
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from ._errors import TytoError
from ._machines import counters
from ._needs import need

if TYPE_CHECKING:
    import matplotlib.axes

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?([KMG]i?B?|B)?")  # "1.5", "32KiB"
LEAST_REACH = 0.1  # least length of an axis of speed-ups on either side of 1


def _axes(axes: "Optional[matplotlib.axes.Axes]") -> "matplotlib.axes.Axes":
    if axes is not None:
        return axes
    need("matplotlib", "a plot")
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]


def _label(metric: str) -> str:
    if metric == "speedup":
        return "speed-up"
    rows = counters()
    if metric not in rows:
        raise TytoError(f"{metric}: there is no such counter; tyto.counters() lists them all")
    unit = rows[metric].unit
    return f"{metric} ({unit})" if unit else metric


def _tidy(axes: "matplotlib.axes.Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def bars(values: Mapping[str, Any], metric: str, axes: "Optional[matplotlib.axes.Axes]") -> "matplotlib.axes.Axes":
    base = 1 if metric == "speedup" else 0
    label = _label(metric)
    axes = _axes(axes)
    names = list(values)
    heights = [values[name] - base if values[name] is not None else 0 for name in names]
    axes.bar(names, heights, bottom=base, color=COLOURS[0], width=0.7)
    if base:
        axes.axhline(base, color="black", linewidth=0.8)
        low, high = axes.get_ylim()  # small differences look small
        axes.set_ylim(min(low, base - LEAST_REACH) if min(heights) < 0 else low,
                      max(high, base + LEAST_REACH) if max(heights) > 0 else high)
    axes.set_ylabel(label)
    _tidy(axes)
    return axes


def lines(rows: Sequence[Mapping[str, Any]], x: str, metric: str, by: str,
          axes: "Optional[matplotlib.axes.Axes]") -> "matplotlib.axes.Axes":
    label = _label(metric)
    axes = _axes(axes)
    series: Dict[Any, List[Any]] = {}
    for row in rows:
        series.setdefault(row[by], []).append(row)
    places = list(dict.fromkeys(str(row[x]) for row in rows))
    joined = all(NUMBER.fullmatch(place) for place in places)  # there is nothing between two names
    for i, (name, of) in enumerate(series.items()):
        axes.plot([places.index(str(row[x])) for row in of], [row[metric] for row in of], label=str(name),
                  color=COLOURS[i % len(COLOURS)], marker=MARKS[i // len(COLOURS) % len(MARKS)], markersize=4,
                  linestyle="-" if joined else "none")
    axes.set_xticks(range(len(places)), places)
    axes.set_xlabel(x)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.legend(title=by, frameon=False)
    _tidy(axes)
    return axes
