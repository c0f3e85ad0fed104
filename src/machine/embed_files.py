#!/usr/bin/env python3
"""Writes the shipped machine files as C strings: embed_files.py OUTPUT FILE.yaml ..."""
import pathlib
import sys


def quoted(line: str) -> str:
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def main() -> None:
    output, *paths = sys.argv[1:]
    lines = ['#include "machine/machine_internal.h"', ""]
    entries = []
    for path in map(pathlib.Path, paths):
        text = path.read_text(encoding="utf-8")
        name, text_of = path.stem, path.stem.replace("-", "_") + "_text"
        lines.append(f"static const char {text_of}[] =")
        lines += ["    " + quoted(line) for line in text.splitlines()]
        lines[-1] += ";"
        entries.append(f'    {{"{name}", {text_of}, sizeof {text_of} - 1}},')
    lines += ["", "const MachineShipped machine_shipped[] = {", *entries, "    {NULL, NULL, 0},", "};", ""]
    pathlib.Path(output).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
