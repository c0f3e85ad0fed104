#!/usr/bin/env python3
"""Exports of the three libcudart: exactly the rows of the table, under the library's version node.

usage: test_exports.py API_H VENDOR_LIBRARY LIBRARY...

VENDOR_LIBRARY may be missing; if it exists, libcudart.so.13 must have all of its names.
"""
import os
import re
import subprocess
import sys

OF_OLD_ONLY = {"cudaThreadSynchronize", "cudaThreadExit", "cudaEventElapsedTime_v2",
               "cudaCreateTextureObject_v2", "cudaGetTextureObjectTextureDesc_v2",
               "cudaGetDeviceProperties_v2", "cudaStreamGetCaptureInfo_v2",
               "cudaStreamGetCaptureInfo_v3", "cudaGraphAddNode_v2", "cudaThreadGetCacheConfig",
               "cudaGraphGetEdges_v2", "cudaGraphNodeGetDependencies_v2",
               "cudaGraphNodeGetDependentNodes_v2", "cudaGraphAddDependencies_v2",
               "cudaGraphRemoveDependencies_v2", "cudaStreamUpdateCaptureDependencies_v2",
               "cudaStreamGetCaptureInfo_v2_ptsz", "cudaStreamGetCaptureInfo_v3_ptsz",
               "cudaStreamUpdateCaptureDependencies_v2_ptsz",
               "cudaThreadSetCacheConfig", "cudaThreadGetLimit", "cudaThreadSetLimit"}


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return dict(re.split("@+", line.split()[-1]) for line in lines if "@" in line and " A " not in line)


def rows(text, table):
    part = text[text.index(f"#define {table}("):]
    return set(re.findall(r"\bROW\((\w+)", part[:part.index("\n\n")])) - {"ROW"}


def main(api, vendor, *libraries):
    with open(api, encoding="utf-8") as file:
        text = file.read()
    common = set().union(*(rows(text, f"CUDART_{name}") for name in ("FUNCTIONS", "ALIASES", "MISSING")))
    old = rows(text, "CUDART_OLD_MISSING") | OF_OLD_ONLY
    problems = []
    for library in libraries:
        node = "libcudart.so." + re.search(r"cudart-([\d.]+?)\.so", library).group(1)
        names = exported(library)
        wanted = common | (old if node != "libcudart.so.13" else set())
        problems += [f"{node}: {name} is not exported" for name in sorted(wanted - names.keys())]
        problems += [f"{node}: {name} leaks" for name in sorted(names.keys() - wanted)]
        problems += [f"{node}: {name} has version {version}" for name, version in names.items()
                     if version != node]
        if node == "libcudart.so.13" and os.path.exists(vendor):
            problems += [f"the vendor's {name} is not exported"
                         for name in sorted(exported(vendor).keys() - names.keys())]
    if len(common) < 400:
        problems.append(f"only {len(common)} rows were read from the table")
    print("\n".join(problems) or f"{len(common)} functions are exported")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
