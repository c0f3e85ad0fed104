#!/usr/bin/env python3
"""Writes the templates of policies as C strings: embed_templates.py OUTPUT KIND.c.in ..."""
import pathlib
import sys


def quoted(line: str) -> str:
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def main() -> None:
    output, *paths = sys.argv[1:]
    lines = ['#include "cli/new/templates.h"', ""]
    for path in map(pathlib.Path, paths):
        lines.append(f"const char template_{path.name.removesuffix('.c.in')}[] =")
        lines += ["    " + quoted(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lines[-1] += ";"
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
