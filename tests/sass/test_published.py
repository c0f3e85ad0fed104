#!/usr/bin/env python3
"""Published disassembly: the labelled encodings of CuAssembler's tables (CuAsm/InsAsmRepos/) and its pair of cubin and
listing (TestData/CuTest/). Each text must equal what the decoder prints, and every bit must have a meaning.

usage: test_published.py SASS_DUMP          TYTO_CUASSEMBLER: a checkout of cloudcores/CuAssembler, or its git folder;
                                            skipped if it is not set
"""
import os
import pathlib
import re
import subprocess
import sys

import listing

ARCHITECTURES = (70, 75, 80, 86)
RECORD = re.compile(r'\((0x[0-9a-f]+), (0x[0-9a-f]+), "([^"]*)"\)')  # offset, code, text
LABELLED = re.compile(r"\(\[[^\]]*\], \['0_[^\]]*\], (\d+)\)")  # operands, modifiers, code
LINE = re.compile(r"^\s*\[(B[^\]]*)\]\s*/\*([0-9a-f]+)\*/\s*(.*?)\s*;\s*$", re.M)
SECTION = re.compile(r'^\s*\.section\s+\.text\.(\S+?),"ax".*?$(.*?)(?=^\s*\.section\s|\Z)', re.M | re.S)
NAMED = re.compile(r"`\(|@")  # an operand that the linker fills in
MOST_SHOWN = 20


def read(folder, name):
    """A file of the checkout, or of the newest commit of the git folder."""
    if (folder / name).is_file():
        return (folder / name).read_bytes()
    return subprocess.run(["git", "-C", folder, "show", f"HEAD:{name}"], capture_output=True, check=True).stdout


def compare(what, rows, lines):
    """Compares rows (code, text) with decoded lines; prints the differences and returns their number."""
    different = [(code, text, line) for (code, text), line in zip(rows, lines)
                 if listing.canonical(text) != listing.canonical(line.text) or line.unknown or not line.is_known]
    print(f"{what}: {len(rows) - len(different)} of {len(rows)} equal")
    for code, text, line in different[:MOST_SHOWN]:
        print(f"  {code}  {text}\n  {'':32}  {line.text}" + (f"  unknown bits {line.unknown:x}" if line.unknown else ""))
    return len(different)


def check_table(program, folder, sm):
    text = read(folder, f"CuAsm/InsAsmRepos/DefaultInsAsmRepos.sm_{sm}.txt").decode()
    rows = [(f"{int(at, 16):x}", f"{int(code, 16):032x}", words) for at, code, words in RECORD.findall(text)]
    lines = listing.dump(program, sm, [row[:2] for row in rows])
    wrong = compare(f"sm_{sm}, texts", [row[1:] for row in rows], lines)
    labelled = {f"{int(code):032x}" for code in LABELLED.findall(text)}
    missing = labelled - {code for _, code, _ in rows}
    print(f"sm_{sm}: {len(labelled)} labelled encodings, {len(missing)} without a text")
    return wrong + len(missing)


def check_pair(program, folder, sm, stem):
    """A cubin and its listing, control bits included. Operands with names of symbols are left out."""
    sections = dict(listing.texts_of(read(folder, f"TestData/CuTest/{stem}.cubin")))
    wrong = 0
    for name, body in SECTION.findall(read(folder, f"TestData/CuTest/{stem}.cuasm").decode()):
        codes = listing.codes_of(sections[name])
        shown = {int(at, 16): (control, text) for control, at, text in LINE.findall(body)}
        rows, lines = [], []
        for (at, code), line in zip(codes, listing.dump(program, sm, codes)):
            control, text = shown[int(at, 16)]
            if NAMED.search(text):
                text = text.split()[0] if not text.startswith("@") else " ".join(text.split()[:2])
                line = line._replace(text=" ".join(line.text.split()[:len(text.split())]))
            rows.append((code, f"{control} {text}"))
            lines.append(line._replace(text=f"{line.control} {line.text}"))
        wrong += compare(f"{stem}, {name}", rows, lines)
    return wrong


def main(program):
    if not (folder := os.environ.get("TYTO_CUASSEMBLER")):
        print("TYTO_CUASSEMBLER names no checkout of cloudcores/CuAssembler")
        return listing.SKIPPED
    folder = pathlib.Path(folder)
    wrong = sum(check_table(program, folder, sm) for sm in ARCHITECTURES)
    wrong += check_pair(program, folder, 75, "cudatest.7.sm_75")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
