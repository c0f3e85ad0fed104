#!/usr/bin/env python3
"""Checks that the code that ptxas generates from the PTX in the tree has no unknown operation and no unknown bit.

usage: test_assembled.py SASS_DUMP TEST_CONFORMANCE CAPTURE_DRIVER FOLDER... [--all] [--jobs N]

The PTX: all files below the FOLDERs, and the PTX of the conformance suite, which CAPTURE_DRIVER (capture_driver.c) gets
from TEST_CONFORMANCE. Tests a sample of it for some architectures; with --all, all of it for every architecture, with and
without optimization. Skipped if ptxas is not installed."""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import listing

ALL = [(sm, level) for sm in (75, 80, 86, 89, 90, 100, 103, 110, 120) for level in ("-O3", "-O1", "-O0")]
SAMPLE = [(75, "-O3"), (80, "-O1"), (90, "-O3"), (100, "-O3"), (120, "-O1")]
SAMPLE_FILES = 3  # of the tree, for each architecture
SAMPLE_MODULES = 20  # of the conformance suite
SAMPLE_KERNELS = 5  # of each module
MERGED = 100  # kernels per merged module
TARGET = re.compile(r"^\.target\s+sm_(\d+)(a?).*$", re.M)
ENTRY = re.compile(r"^(?:\.visible )?\.entry (\w+)", re.M)
MOST_SHOWN = 3
NOTHING = "0" * 32  # what ptxas 13.0 emits instead of fence.acquire.cta on sm_75

Result = collections.namedtuple("Result", "instructions bad absent")


def captured(program, driver, folder):
    """Modules of the conformance suite."""
    environment = dict(os.environ, TYTO_CAPTURE=str(folder), TYTO_CAPTURE_SM="90")
    subprocess.run([program, "--device", driver], env=environment, capture_output=True, check=False)
    return merged([path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ptx"))])


def merged(modules):
    """The same modules, but with those of one kernel and no variables merged, which saves most of the time."""
    alone, kernels, head = [], [], ""
    for text in modules:
        start = ENTRY.search(text).start()
        names = ENTRY.findall(text)
        if len(names) > 1 or re.search(r"^\.(shared|global|const|func|extern)|^[{}]", text[:start], re.M):
            alone.append(text)
        else:
            head = text[:start]
            kernels.append(ENTRY.sub(lambda match: f"{match[0]}_{len(kernels)}", text[start:]))  # noqa: B023
    return alone + [head + "\n".join(kernels[i:i + MERGED]) for i in range(0, len(kernels), MERGED)]


def halves(text):
    """A module split into two with half of its kernels each; empty if it has only one kernel."""
    starts = [match.start() for match in ENTRY.finditer(text)]
    if len(starts) < 2:
        return []
    middle = starts[len(starts) // 2]
    return [text[:middle], text[:starts[0]] + text[middle:]]


def beginning(text, count):
    """A module with only its first `count` kernels."""
    starts = [match.start() for match in ENTRY.finditer(text)]
    return text[:starts[count]] if len(starts) > count else text


def cubins(text, sm, level):
    """Cubins of the kernels that ptxas accepts, and None for each kernel that it rejects."""
    cubin = listing.assemble(text, sm, level)
    if cubin is None and (parts := halves(text)):
        return [one for part in parts for one in cubins(part, sm, level)]
    return [cubin]


def check(program, text, sm, level):
    """Decodes the code of a module and collects what the decoder does not know."""
    bad, count, absent = [], 0, 0
    for cubin in cubins(text, sm, level):
        absent += cubin is None
        codes = [code for _, section in listing.texts_of(cubin or b"") for code in listing.codes_of(section)] if cubin else []
        count += len(codes)
        for (at, code), line in zip(codes, listing.dump(program, sm, codes)):
            if code != NOTHING and (line.unknown or not line.is_known or "INVALID" in line.text):
                bad.append(f"sm_{sm} {level} {at} {code} {line.text}  unknown {line.unknown:x}")
    return Result(count, bad, absent)


def is_for(text, sm):
    target = TARGET.search(text)
    return target and int(target[1]) <= sm and not target[2]


def work_of(options, modules, files):
    """(text, sm, level) of everything to assemble."""
    for sm, level in ALL if options.all else SAMPLE:
        own = [text for text in files if is_for(text, sm)]
        taken = modules
        if not options.all:
            own = own[::len(own) // SAMPLE_FILES or 1]
            taken = [beginning(text, SAMPLE_KERNELS) for text in modules[::len(modules) // SAMPLE_MODULES or 1]]
        for text in own + [TARGET.sub(f".target sm_{sm}", text, count=1) for text in taken]:
            yield text, sm, level


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("conformance")
    parser.add_argument("driver")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not listing.has_assembler():
        print("ptxas is not installed")
        return listing.SKIPPED
    files = [path.read_text(encoding="utf-8", errors="replace") for folder in options.folders for path in sorted(folder.rglob("*.ptx"))]
    with tempfile.TemporaryDirectory() as folder:
        modules = captured(options.conformance, options.driver, pathlib.Path(folder))
    sums, bad = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(list)
    work = list(work_of(options, modules, files))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda item: check(options.program, *item), work)
        for (_, sm, level), result in zip(work, results):
            row = sums[sm, level]
            row[0], row[1], row[2] = row[0] + result.instructions, row[1] + len(result.bad), row[2] + result.absent
            for text in result.bad:
                bad[re.sub(r"unknown .*|[0-9a-f]{32}|^\S+ \S+ \S+ ", "", text).split()[0]].append(text)
    for (sm, level), (count, wrong, absent) in sums.items():
        print(f"sm_{sm} {level}: {count} instructions, {wrong} not known; ptxas does not take {absent} kernels")
    for name, texts in sorted(bad.items()):
        print(f"{name}: {len(texts)}", *texts[:MOST_SHOWN], sep="\n  ")
    return 1 if bad or not sums else 0


sys.exit(main())
