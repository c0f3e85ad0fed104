#!/usr/bin/env python3
"""Writes a text as a C string: embed_text.py INPUT NAME OUTPUT"""
import pathlib
import sys


def quoted(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def main(source, name, output):
    lines = pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    text = "\n".join(map(quoted, lines))
    pathlib.Path(output).write_text(f"extern const char {name}[];\nconst char {name}[] =\n{text};\n", encoding="utf-8")


main(*sys.argv[1:])
