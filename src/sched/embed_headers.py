#!/usr/bin/env python3
"""Writes the headers that policies include as C strings: embed_headers.py OUTPUT HEADER.h ..."""
import pathlib
import sys


def quoted(line: str) -> str:
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def main() -> None:
    output, *paths = sys.argv[1:]
    lines = ['#include "sched/compile_headers.h"', "", "#include <stddef.h>", "", "const CompileHeader compile_headers[] = {"]
    for path in map(pathlib.Path, paths):
        lines.append(f'    {{"{path.name}",')
        lines += ["     " + quoted(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lines[-1] += "},"
    lines += ["    {NULL, NULL},", "};", ""]
    pathlib.Path(output).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
