#!/usr/bin/env python3
"""Compares our cuda_runtime_api.h with the vendor's: the same values, layouts and signatures.

usage: test_header.py CC OUR_INCLUDE

A program prints every enumerator, flag, size and offset that our header declares. It declares our functions again after
the vendor's header; a compiler accepts that only if the types agree. Skipped (status 77) if no CUDA toolkit is installed.
"""
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
PLACES = [os.environ.get("CUDA_HOME", "") + "/include", "/usr/local/cuda/include", "/usr/include"]
# the vendor uses other names for these, or declares them only in the compiler's own headers
UNDECLARED = re.compile(r"__cuda|cudaProfiler|cudaGetKernel|cudaLaunchKernel")


def find_vendor():
    for place in PLACES:
        if os.path.isfile(os.path.join(place, "cuda_runtime_api.h")):
            return place
    return None


def uncommented(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def facts(header):
    lines = []
    for tag, body in re.findall(r"enum (\w+) \{(.*?)\}", header, re.S):
        for item in re.findall(r"^\s*(\w+)", body, re.M):
            lines.append(f'printf("{item} %lld\\n", (long long){item});')
    for tag, body in re.findall(r"struct (\w+) \{(.*?)^\}", header, re.S | re.M):
        if not tag.startswith("cuda"):
            continue
        tag = f"struct {tag}"
        lines.append(f'printf("sizeof {tag} %zu\\n", sizeof({tag}));')
        flat = re.sub(r"union \{.*\} (\w+);", r"int \1;", body, flags=re.S)
        for members in re.findall(r"^\s*[\w ]+?\**((?:\b\w+(?:\[[^\]]*\])?(?:, )?)+);", flat, re.M):
            for member in re.findall(r"(\w+)(?:\[[^\]]*\])?(?:, |$)", members):
                lines.append(f'printf("{tag}.{member} %zu\\n", offsetof({tag}, {member}));')
    for name in re.findall(r"#define (cuda\w+) ", header):
        lines.append(f'printf("{name} %lld\\n", (long long)(size_t){name});')
    return lines


def run(compiler, include, header, lines, prototypes, folder):
    path, program = os.path.join(folder, "probe.c"), os.path.join(folder, "probe")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([f"#include <{header}>", "#include <stddef.h>", "#include <stdio.h>",
                              prototypes, "int main(void) {", *lines, "return 0;", "}", ""]))
    subprocess.run([*compiler, "-std=c17", "-w", "-I", include, "-o", program, path], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def main(compiler, ours):
    vendor = find_vendor()
    if not vendor:
        print("no CUDA toolkit found")
        return SKIP
    compiler = compiler.split()
    with open(os.path.join(ours, "tyto", "cuda_runtime_api.h"), encoding="utf-8") as file:
        header = uncommented(file.read())
    lines = facts(header)
    prototypes = re.sub(r"\s*TYTO_DEFAULT\((?:[^()]|\([^()]*\))*\)", "", header)
    declared = [text for text in re.findall(r"^[^#\n;{}]*CUDARTAPI[^;]*;", prototypes, re.M)
                if not UNDECLARED.search(text)]
    with tempfile.TemporaryDirectory() as folder:
        mine = run(compiler, ours, "tyto/cuda_runtime_api.h", lines, "", folder)
        theirs = run(compiler, vendor, "cuda_runtime_api.h", lines, "\n".join(declared), folder)
    differences = [f"ours: {a}   vendor's: {b}" for a, b in zip(mine, theirs) if a != b]
    print("\n".join(differences))
    print(f"{len(mine)} facts and {len(declared)} signatures compared, {len(differences)} differ")
    return 1 if differences or len(mine) != len(theirs) or len(mine) < 500 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
