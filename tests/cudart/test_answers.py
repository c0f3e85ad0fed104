#!/usr/bin/env python3
"""Calls that are wrong or odd: compares a GPU's answers with ours, line by line.

usage: test_answers.py ANSWERS COMMAND... -- PROGRAM...   (with only one program: a part of the questions)

ANSWERS contains what CUDA printed on a GPU; COMMAND runs a PROGRAM here. Each group of a program's questions runs in its
own process, as on the GPU. DIFFERENT lists the lines that differ on purpose, with the reason. A row that no longer
differs is an error."""
import collections
import subprocess
import sys

FAULTS = ("a misaligned store", "a store by a null pointer", "a trap", "an assertion",
          "a store beyond shared memory")
RESET = "after a reset the device works again here; on the GPU, the process has no device any more"

# Heading or headings, the GPU's line, our line, and the reason.
DIFFERENT = [
    ("devices", "  size = 8650752", "  size = 1048576",
     "what the manual says; that GPU has 64 KiB for each of its 132 SMs"),
    ("devices", "  size = 11796480", "  size = 0", "without timing there is no L2 of which a part could be set aside"),
    ("libraries, processes, the driver's entry points",
     'cudaLibraryLoadData(&library, "garbage", nullptr, nullptr, 0, nullptr, nullptr, 0): cudaSuccess',
     'cudaLibraryLoadData(&library, "garbage", nullptr, nullptr, 0, nullptr, nullptr, 0): cudaErrorInvalidKernelImage',
     "what CUDA loads when it is first used is loaded at once"),
    ("the driver's calls", "cuModuleLoadData(&module, bogus_ptx): CUDA_ERROR_INVALID_PTX",
     "cuModuleLoadData(&module, bogus_ptx): CUDA_SUCCESS", "an unknown instruction refuses its kernel, not the module"),
    ("the driver's calls", "cuModuleLoadData(&module, elsewhere_ptx): CUDA_ERROR_INVALID_PTX",
     "cuModuleLoadData(&module, elsewhere_ptx): CUDA_SUCCESS", "PTX for any later device is loaded"),
    (FAULTS, "cudaMalloc(&p, 16): cudaErrorDevicesUnavailable", "cudaMalloc(&p, 16): cudaSuccess", RESET),
    (FAULTS, "a launch after the reset: cudaErrorDevicesUnavailable", "a launch after the reset: cudaSuccess", RESET),
    (FAULTS, "cudaDeviceSynchronize(): cudaErrorDevicesUnavailable", "cudaDeviceSynchronize(): cudaSuccess", RESET),
]


def sections(text):
    """Lines by the heading above them. Lines before the first heading are dropped."""
    found, lines = {}, []
    for line in text.splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        else:
            lines.append(line)
    return found


def ask(command, program):
    """The output of all groups of a program."""
    names = subprocess.run([*command, program], capture_output=True, text=True, check=True).stdout.split()
    printed = []
    for name in names:
        done = subprocess.run([*command, program, name], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{program} {name}: status {done.returncode}\n{done.stdout}{done.stderr}")
        printed.append(done.stdout)
    return sections("".join(printed))


def allowed_differences():
    rows = {}
    for headings, theirs, ours, _ in DIFFERENT:
        for heading in (headings,) if isinstance(headings, str) else headings:
            rows[heading, theirs, ours] = 0
    return rows


def main(words):
    command, programs = words[1:words.index("--")], words[words.index("--") + 1:]
    with open(words[0], encoding="utf-8") as file:
        answers = sections(file.read())
    ours = collections.ChainMap(*[ask(command, program) for program in programs])
    rows, wrong = allowed_differences(), []
    for heading, lines in ours.items():
        theirs = answers.get(heading, [])
        if len(theirs) != len(lines):
            wrong.append(f"# {heading}: {len(lines)} lines, {len(theirs)} there")
        for there, here in zip(theirs, lines):
            if there != here and (heading, there, here) not in rows:
                wrong.append(f"# {heading}\n  there: {there}\n  here:  {here}")
            elif there != here:
                rows[heading, there, here] += 1
    if len(programs) > 1:
        wrong += [f"# {heading}: nobody asked" for heading in answers if heading not in ours]
    wrong += [f"# {heading}: no longer different: {there}" for (heading, there, _), uses in rows.items()
              if heading in ours and not uses]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(map(len, ours.values()))} lines of {len(ours)} headings, of which {sum(rows.values())} differ on purpose")


if __name__ == "__main__":
    main(sys.argv[1:])
