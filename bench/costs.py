"""Measures the cost of a run: the host's instructions by function, counted by callgrind, and the least processor time.

The counts do not depend on how busy the host is, so they give the verdict. Times are printed next to them. A count
covers the simulator's library and its calls to the C library. It excludes the host program and the loading of programs.

Link-time optimisation inlines much code, and each build inlines it differently. If a build has line numbers, an
instruction counts for the function that contains its source text, wherever the compiler has put it. Otherwise it counts
for the symbol that contains it.
"""
import bisect
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

LOSS = 0.05  # a build has lost if a run's cost grows by more than this
SHOWN = 5    # functions in the report of a loss

# Instructions in total and by (symbol, file, line), and the simulated warp instructions.
Cost = collections.namedtuple("Cost", "instructions places warp_instructions")
# A function's part of a change, in instructions per warp instruction.
Change = collections.namedtuple("Change", "function old new")


# ---- Counting ----

def read_callgrind(lines):
    """(object, symbol, file, line) -> instructions, from an output without compressed names and positions."""
    costs = collections.Counter()
    place = {"ob": "", "fn": "", "file": ""}
    is_call = False
    for line in lines:
        key, is_name, value = line.rstrip("\n").partition("=")
        if not is_name:
            numbers = line.split()
            if len(numbers) == 2 and numbers[0].isdigit():
                if not is_call:
                    costs[place["ob"], place["fn"], place["file"], int(numbers[0])] += int(numbers[1])
                is_call = False
        elif key in ("ob", "fn"):
            place[key] = value
            if key == "fn":
                place["fn"] = re.sub(r"'\d+$", "", value)
        elif key in ("fl", "fi", "fe"):
            place["file"] = value
        elif key == "calls":
            is_call = True  # skip the next line: the cost of the callee, which has its own lines
    return costs


def is_counted(path, program):
    name = pathlib.Path(path).name
    return name != program and not name.startswith(("ld-linux", "vgpreload"))


def environment(options):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
    return {**kept, "TYTO_OPTIONS": options}


def run(build, case, *before, options="--quiet"):
    """Runs a case of a build to its end, optionally under another command; returns its processor time in seconds.

    The time is the sum of user and system time: Linux splits them only by clock ticks, but the scheduler measures the
    sum."""
    words = [*before, build.folder / "workloads" / case.workload, "--size", case.size]
    child = subprocess.Popen([str(word) for word in words], env=environment(f"{case.options} {options}"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{case.name} of {build.name} ended with status {child.returncode}: {said[-2000:]}")
    return usage.ru_utime + usage.ru_stime


def measure(build, case):
    if not shutil.which("valgrind"):
        raise RuntimeError("counting instructions needs valgrind (Debian: valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        counted, result = (pathlib.Path(folder) / name for name in ("callgrind", "run.json"))
        run(build, case, "valgrind", "--tool=callgrind", f"--callgrind-out-file={counted}", "--compress-strings=no",
            "--compress-pos=no", options=f"--quiet --json {result}")
        total = json.loads(result.read_text(encoding="utf-8"))["total"]
        places = collections.Counter()
        with counted.open(encoding="utf-8", errors="replace") as lines:
            for (path, *place), count in read_callgrind(lines).items():
                if is_counted(path, case.workload):
                    places[tuple(place)] += count
    return Cost(sum(places.values()), places, total["warp_instructions"])


def least_seconds(builds, case, repeats):
    """Least processor time of each build. The builds run in turn, `repeats` times each."""
    least = [float("inf")] * len(builds)
    for _ in range(repeats):
        for i, build in enumerate(builds):
            least[i] = min(least[i], run(build, case))
    return least


# ---- Functions ----

def functions_of(text):
    """Where the functions of a C source begin and end: ascending lines, and for each the function from there on."""
    starts, names = [0], [""]
    begun = None
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"[A-Za-z_]", line):
            named = re.search(r"(\w+)\(", line)
            begun = (number, named.group(1)) if named and not line.endswith(";") else begun
        if line.endswith("{") and begun:
            starts.append(begun[0])
            names.append(begun[1])
            begun = None
        elif line.startswith("}"):
            starts.append(number + 1)
            names.append("")
            begun = None
    return starts, names


def plain_name(symbol):
    """The name in the source: the compiler and the linker mark their variants after a dot."""
    return symbol.split(".")[0]


class Functions:
    """Finds the names of functions by their places in a build's sources."""

    def __init__(self, tree, is_by_line):
        self.tree, self.is_by_line, self.files = tree, is_by_line, {}

    def of(self, symbol, file, line):
        inside = re.search(r"(?:^|/)src/(?!.*/src/)(.+)", file)
        if not self.is_by_line or not inside:
            return plain_name(symbol)
        path = inside.group(1)
        if path not in self.files:
            source = self.tree / "src" / path
            text = source.read_text(encoding="utf-8") if source.is_file() else ""
            self.files[path] = functions_of(text)
        starts, names = self.files[path]
        name = names[bisect.bisect_right(starts, line) - 1]
        # A function that a macro defines appears there with the macro's name.
        return f"{path} {plain_name(symbol) if not name or name.isupper() else name}"

    def sums(self, cost):
        """function -> instructions per warp instruction"""
        by_function = collections.Counter()
        for (symbol, file, line), count in cost.places.items():
            by_function[self.of(symbol, file, line)] += count / cost.warp_instructions
        return by_function


def knows_lines(cost):
    return any(line and re.search(r"(?:^|/)src/", file) for _, file, line in cost.places)


# ---- Verdict ----

def per_warp_instruction(cost):
    return cost.instructions / cost.warp_instructions


def change_of(old, new):
    """The increase of the cost, as a share of the old cost."""
    return per_warp_instruction(new) / per_warp_instruction(old) - 1


def has_lost(old, new):
    return per_warp_instruction(new) > per_warp_instruction(old) * (1 + LOSS)


def changes(old, new, trees):
    """The change of each function's cost, largest loss first."""
    is_by_line = knows_lines(old) and knows_lines(new)
    before, after = (Functions(tree, is_by_line).sums(cost) for tree, cost in zip(trees, (old, new)))
    rows = [Change(name, before[name], after[name]) for name in before.keys() | after.keys()]
    return sorted(rows, key=lambda row: (row.old - row.new, row.function))
