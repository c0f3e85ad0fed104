#!/usr/bin/env python3
"""docs/machine-code-operations.md agrees with the tables of forms; TYTO_BLESS=1 regenerates it.

usage: test_page.py OPERATIONS_PAGE ROOT
"""
import os
import pathlib
import subprocess
import sys


def main(program, root):
    stored = pathlib.Path(root, "docs/machine-code-operations.md")
    made = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    if os.environ.get("TYTO_BLESS"):
        stored.write_text(made, encoding="utf-8")
    if not stored.is_file() or stored.read_text(encoding="utf-8") != made:
        print(f"{stored} is out of date: TYTO_BLESS=1 rewrites it")
        return 1
    return 0


sys.exit(main(*sys.argv[1:]))
