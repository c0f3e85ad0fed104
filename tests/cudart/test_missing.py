#!/usr/bin/env python3
"""Every function that our CUDA libraries export but do not support reports this once, and does nothing else.

usage: test_missing.py DRIVER_API_H LIBTYTO CUDART_API_H LIBCUDART...

The test walks a library's export table. Functions that the tables of the *_API_H do not list as supported must return
CUDA's "not supported" at each call, and print their name on standard error at the first.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from test_exports import OF_OLD_ONLY, exported

NOT_SUPPORTED = 801
THERE = {"driver": ("API_FUNCTIONS", "API_ALIASES"), "cudart": ("CUDART_FUNCTIONS", "CUDART_ALIASES")}


def names_there(api, tables):
    text = pathlib.Path(api).read_text(encoding="utf-8")
    parts = [text[text.index(f"#define {table}("):].split("\n\n")[0] for table in tables]
    return set(re.findall(r"\bROW\((\w+)", "".join(parts)))


def is_runtime(library):
    return "cudart" in pathlib.Path(library).name


def functions_of(library):
    """CUDA names that the library defines, with or without a version."""
    if is_runtime(library):
        return set(exported(library))
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return set(re.findall(r" T (cu\w+)", listing.stdout))


def call_twice(library, names):
    """Calls each function twice in this process. Returns the problems."""
    functions = ctypes.CDLL(library)
    if not is_runtime(library):
        functions.cuInit(0)
    problems = []
    for name in names:
        with tempfile.TemporaryFile() as said:
            before = os.dup(2)
            os.dup2(said.fileno(), 2)
            statuses = [getattr(functions, name)() for _ in range(2)]
            os.dup2(before, 2)
            os.close(before)
            said.seek(0)
            lines = said.read().decode().splitlines()
        if statuses != [NOT_SUPPORTED] * 2:
            problems.append(f"{name} returns {statuses}")
        if len(lines) != 1 or not re.search(rf"\b{name} is not supported", lines[0]):
            problems.append(f"{name} says {lines}")
    return problems


def check(library, there):
    missing = sorted(functions_of(library) - there)
    problems = call_twice(library, missing)
    print(f"{pathlib.Path(library).name}: {len(missing)} functions say that they are not supported")
    return problems + ([] if len(missing) > 50 else ["too few were found"])


def main(driver_api, libtyto, cudart_api, *libraries):
    problems = check(libtyto, names_there(driver_api, THERE["driver"]) | {"cuGetProcAddress"})
    there = names_there(cudart_api, THERE["cudart"])
    for library in libraries:
        old = set() if library.endswith("-13.so") else OF_OLD_ONLY
        problems += check(library, there | old)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
