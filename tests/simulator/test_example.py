#!/usr/bin/env python3
"""The example of docs/library.md prints what the page shows.

usage: test_example.py COUNTERS PAGE

COUNTERS is docs/examples/counters.c, built; PAGE is docs/library.md.
"""
import re
import subprocess
import sys


def main(program, page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    words, shown = re.search(r"^    \$ \./counters (.*)\n((?:    [^$\n].*\n)+)", text, re.M).groups()
    told = subprocess.run([program, *words.split()], capture_output=True, text=True, check=True).stdout
    if told != re.sub(r"(?m)^    ", "", shown):
        print(f"{page} shows:\n{shown}but the example prints:\n{told}")
        return 1
    unknown = subprocess.run([program, "l1d_mises"], capture_output=True, text=True, check=True).stdout
    if unknown != "l1d_mises: there is no such counter\n":
        print(f"of an unknown name it says: {unknown}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
