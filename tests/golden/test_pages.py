#!/usr/bin/env python3
"""The pages show what the command prints: every indented `$ tyto ...` of README.md and docs/ is run, and
what stands below it is held against its output. A line `...` stands for lines left out; a command that
nothing stands below is not run. What the host needed differs from run to run and is not compared.

usage: test_pages.py TYTO ROOT          TYTO_BLESS=1 writes the outputs anew
"""
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
HOST = re.compile(r"(?m)^host: .*|\d+\.\d\d s \(.* a second\)$")  # the lines of time and speed
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}


def make_files(folder):
    """The files that the examples name."""
    shutil.copy(ROOT / "tests/cli/saxpy.ptx", folder)
    for name in ("climb.c", "rtx3060.yaml"):
        shutil.copy(ROOT / "docs/examples" / name, folder)
    for name in ("x.bin", "y.bin"):
        (folder / name).write_bytes(struct.pack("8f", *range(8)))


def output_of(command, folder):
    """The lines of standard output and then of standard error, which is the order on a terminal."""
    done = subprocess.run([TYTO, *shlex.split(command)[1:]], capture_output=True, text=True, check=False,
                          cwd=folder, env=PLAIN, timeout=100)
    return (done.stdout + done.stderr).rstrip("\n").split("\n")


def is_shown(shown, printed):
    """Whether the lines of a page are those of the output."""
    shown, printed = ([HOST.sub("", line) for line in lines] for lines in (shown, printed))
    if "..." not in shown:
        return shown == printed
    rest = iter(printed)
    return all(line == "..." or line in rest for line in shown)


def check_page(path, folder):
    """Runs the commands of a page: (number of them, those whose output is another)."""
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
        wrong.append(f"{path.relative_to(ROOT)}: $ {command}\nprints\n" + "\n".join(printed))
        return "\n".join([f"    $ {command}", *(f"    {line}".rstrip() for line in printed), ""])

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
