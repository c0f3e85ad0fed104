"""Tyto, a fast, deterministic, cycle-level GPU simulator, from Python.

    import tyto
    tyto.run("spmv", machine="ccws", scheduler="ccws")["ipc"]
    tyto.compare("spmv", ["lrr", "gto", "ccws"], machine="ccws").frame()

docs/python.md in Tyto's sources describes everything.
"""
from . import _needs  # first, because it reports missing modules
from ._command import compare, run, sweep
from ._errors import TytoError
from ._kernel import In, Kernel, Launch, Simulator
from ._machines import Counter, Machine, Value, counters, machine, machines
from ._results import Comparison, Run, Sweep
from ._scheduler import Event, Issue, Scheduler, SmView, warps

__version__ = "0.1.0"
del _needs

__all__ = [
    "Comparison", "Counter", "Event", "In", "Issue", "Kernel", "Launch", "Machine", "Run", "Scheduler",
    "Simulator", "SmView", "Sweep", "TytoError", "Value", "compare", "counters", "machine", "machines",
    "run", "sweep", "warps",
]
