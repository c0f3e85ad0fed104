#!/usr/bin/env python3
"""The pages show what the command prints. The test runs every indented `$ tyto ...` of README.md and docs/, and compares
the text below it with the output. A line `...` stands for omitted lines; a command without text below it is not run.
The host's time and speed differ between runs and are not compared.

usage: test_pages.py TYTO ROOT          TYTO_BLESS=1 rewrites the outputs
"""
import difflib
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PAGES = ("README.md", "docs/*.md")
BLOCK = re.compile(r"(?m)^    \$ (tyto .*)\n((?:(?:    (?!\$ ).*)?\n)+?)(?=\n*(?:\S|    \$ |\Z))")
HOST = re.compile(r"(?m)^host: .*|\d+\.\d\d s \(.* a second\)$")  # the lines with time and speed
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}


def make_files(folder):
    """Makes the files that the examples use."""
    shutil.copy(ROOT / "tests/cli/saxpy.ptx", folder)
    for path in (ROOT / "docs/examples").glob("*.*"):
        shutil.copy(path, folder)
    rows = (folder / "rows.cu").read_text(encoding="utf-8")
    (folder / "columns.cu").write_text(rows.replace("row * columns + i", "i * rows + row"), encoding="utf-8")
    for name in ("rows", "columns"):
        subprocess.run([TYTO, "cc", "--clang", "-lineinfo", "-o", name, f"{name}.cu"], check=True, cwd=folder, env=PLAIN)
    for name in ("x.bin", "y.bin"):
        (folder / name).write_bytes(struct.pack("8f", *range(8)))


def output_of(command, folder):
    """The lines of standard output, followed by those of standard error, as on a terminal."""
    done = subprocess.run([TYTO, *shlex.split(command)[1:]], capture_output=True, text=True, check=False,
                          cwd=folder, env=PLAIN, timeout=100)
    return (done.stdout + done.stderr).rstrip("\n").split("\n")


def is_shown(shown, printed):
    """Whether the lines of a page match those of the output."""
    shown, printed = ([HOST.sub("", line) for line in lines] for lines in (shown, printed))
    if "..." not in shown:
        return shown == printed
    rest = iter(printed)
    return all(line == "..." or line in rest for line in shown)


def renewed(shown, printed):
    """The output. A page that leaves lines out keeps the lines most like its own."""
    if "..." not in shown:
        return printed
    lines, rest = [], list(printed)
    for line in shown:
        if line != "..." and (near := difflib.get_close_matches(line, rest, 1)):
            line = near[0]
            rest = rest[rest.index(line) + 1:]
        lines.append(line)
    return lines


def check_page(path, folder):
    """Runs the commands of a page. Returns (their number, those with another output)."""
    text = path.read_text(encoding="utf-8")
    wrong = []

    def replace(match):
        command, block = match.group(1), match.group(2)
        if not block.strip():
            return match.group(0)
        printed = output_of(command, folder)
        shown = [line[4:] for line in block.rstrip("\n").split("\n")]
        if is_shown(shown, printed):
            return match.group(0)
        if any("there is no ptxas on the PATH" in line for line in printed):
            print(f"{path.relative_to(ROOT)}: $ {command}\nskipped, the page shows a run of ptxas's machine code")
            return match.group(0)
        wrong.append(f"{path.relative_to(ROOT)}: $ {command}\nprints\n" + "\n".join(printed))
        return "\n".join([f"    $ {command}", *(f"    {line}".rstrip() for line in renewed(shown, printed)), ""])

    changed, count = BLOCK.subn(replace, text)
    if wrong and os.environ.get("TYTO_BLESS"):
        path.write_text(changed, encoding="utf-8")
    return count, wrong


def main():
    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as folder:
        make_files(pathlib.Path(folder))
        for path in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
            count, wrong = check_page(path, folder)
            passed += count - len(wrong)
            failed += wrong
    print("\n\n".join(failed))
    if os.environ.get("TYTO_BLESS"):
        passed, failed = passed + len(failed), []
    elif failed:
        print("TYTO_BLESS=1 writes these outputs into the pages")
    print(f"{passed} passed, {len(failed)} failed")
    return bool(failed)


sys.exit(main())
