#!/usr/bin/env python3
"""Exports of libtyto.so and of the link-time stub: every row of the export table, the public functions, and nothing else.

usage: test_exports.py LIBTYTO STUB API_H
"""
import re
import subprocess
import sys


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def rows(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = re.findall(r"\bROW\((cu\w+)", text)
    return set(names) | {"cuGetProcAddress"}


def main(library, stub, api):
    table, problems = rows(api), []
    names = exported(library)
    problems += [f"{name} is not exported" for name in table - names]
    problems += [f"{name} leaks" for name in names - table if not name.startswith("tyto_")]
    problems += [f"{name} is not in the stub" for name in table - exported(stub)]
    if len(table) < 600:
        problems.append(f"only {len(table)} rows were read from the table")
    # the meaning of these changed with CUDA 13: programs that try these names first must not find them
    problems += [f"{name} must not be exported"
                 for name in ("cuCtxGetDevice_v2", "cuCtxSynchronize_v2") if name in names]
    print("\n".join(problems) or f"{len(table)} functions are exported")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
