#!/usr/bin/env python3
"""Compares our cuda.h with the vendor's: the same values, layouts and symbols.

usage: test_header.py CC OUR_INCLUDE WORKLOADS

A program prints every enumerator, size, offset and symbol that our header declares. It is compiled against each header
and must print the same. The workloads must compile against the vendor's header, too. Skipped (status 77) if no CUDA
toolkit is installed."""
import glob
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
PLACES = [os.environ.get("CUDA_HOME", "") + "/include", "/usr/local/cuda/include", "/usr/include"]


def find_vendor():
    for place in PLACES:
        path = os.path.join(place, "cuda.h")
        if os.path.isfile(path) and "NVIDIA" in open(path, encoding="latin-1").read(4096):
            return place
    return None


def uncommented(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def probe_source(header):
    """A program that prints what `header`, our header, declares."""
    lines = ["#include <cuda.h>", "#include <stddef.h>", "#include <stdio.h>",
             "#define NAME(x) NAME2(x)", "#define NAME2(x) #x", "int main(void) {"]
    for body, name in re.findall(r"typedef enum \w+ \{(.*?)\} (\w+);", header, re.S):
        for item in re.findall(r"^\s*(\w+)", body, re.M):
            if not item.endswith("_MAX") or item.startswith("CU_LIMIT"):
                lines.append(f'printf("{item} %lld\\n", (long long){item});')
        lines.append(f'printf("sizeof {name} %zu\\n", sizeof({name}));')
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)^\} (\w+);", header, re.S | re.M):
        lines.append(f'printf("sizeof {name} %zu\\n", sizeof({name}));')
        flat = re.sub(r"(?:union|struct) \{.*\} (\w+);", r"int \1;", body, flags=re.S)
        for member in re.findall(r"(\w+)(?:\[[^\]]*\])?;", flat):
            lines.append(f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));')
    for name in re.findall(r"#define (CU_(?:STREAM|MEMHOST|TRSF|LAUNCH_PARAM|DEVICE)\w+|CUDA_ARRAY3D\w+) ",
                           header):
        lines.append(f'printf("{name} %lld\\n", (long long)(size_t){name});')
    for name in re.findall(r"CUDAAPI\s+(cu\w+)\(", header):
        if not name.startswith(("cuProfiler", "cuCtxCreate_v")):
            lines.append(f'puts("{name} " NAME({name})); (void)&{name};')
    return "\n".join(lines + ["return 0;", "}", ""])


def run_probe(compiler, include, source, folder):
    path = os.path.join(folder, "probe.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    program = os.path.join(folder, "probe")
    # only names and types are compared, so the functions need not exist
    subprocess.run([*compiler, "-std=c17", "-w", "-I", include, "-o", program, path,
                    "-Wl,--unresolved-symbols=ignore-all"], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def main(compiler, ours, workloads):
    vendor = find_vendor()
    if not vendor:
        print("no CUDA toolkit found")
        return SKIP
    compiler = compiler.split()
    with open(os.path.join(ours, "tyto", "cuda.h"), encoding="utf-8") as file:
        source = probe_source(uncommented(file.read()))
    with tempfile.TemporaryDirectory() as folder:
        mine = run_probe(compiler, os.path.join(ours, "tyto"), source, folder).splitlines()
        theirs = run_probe(compiler, vendor, source, folder).splitlines()
    differences = [f"ours: {a}   vendor's: {b}" for a, b in zip(mine, theirs) if a != b]
    for line in differences:
        print(line)
    print(f"{len(mine)} facts compared, {len(differences)} differ")
    for host in sorted(glob.glob(os.path.join(workloads, "*", "host.c"))):
        subprocess.run([*compiler, "-std=c17", "-D_GNU_SOURCE", "-DTYTO_USE_VENDOR_CUDA_H", "-Wall",
                        "-Werror", "-fsyntax-only", "-I", vendor, "-I", workloads, host], check=True)
    return 1 if differences or len(mine) != len(theirs) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
