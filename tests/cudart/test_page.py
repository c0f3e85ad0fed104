#!/usr/bin/env python3
"""docs/runtime-api.md must match the header and the tables; TYTO_BLESS=1 rewrites it.

usage: test_page.py ROOT
"""
import os
import pathlib
import re
import sys

HEAD = """# The CUDA runtime API

`libcudart.so.13` implements the runtime API of CUDA 13 on top of [the driver API](driver-api.md), so
that programs built by nvcc run unmodified under `tyto run`, including those that contain the
[static runtime](cuda-programs.md#static-runtime). `libcudart.so.12` and
`libcudart.so.11.0` are the same code for programs of those releases. `include/tyto/cuda_runtime_api.h`
declares the functions with the vendor's names, values and layouts. This page is generated from that header
and from the export table, `src/cudart/api.h`.

## What differs from a GPU

* The differences of [the driver API](driver-api.md) apply, for example when kernels run and overlap. There is one
  device, number 0, with the machine's compute capability unless an option sets another one. Events report simulated
  time. Faults are printed with kernel, line and address.
* A fat binary is opened when one of its kernels or variables is first used. The runtime selects the PTX text
  with the highest architecture that does not exceed the device's, else the one with the lowest. Without PTX,
  or with `--code machine`, [machine code](machine-code.md) for the device runs. Programs linked with
  `-rdc=true` work if their objects contain PTX, or if the program contains machine code for the device. If
  there is only machine code for another device, the call returns `cudaErrorNoKernelImageForDevice`, and a
  message says which device runs it and how to build with PTX.
* A kernel's fault is returned by the call after the launch, as on a GPU, and by every further call until
  `cudaDeviceReset`. With `CUDA_LAUNCH_BLOCKING=1` in the environment, the launch itself returns it.
* Wrong and odd calls return what CUDA 13's runtime returns on a GPU, with [a few exceptions](real-gpu.md#answers).
  The libraries for CUDA 11 and 12 differ from it where their manuals do: a grid or block that is too large
  returns `cudaErrorInvalidConfiguration`, and an address that is not a kernel `cudaErrorInvalidDeviceFunction`.
* Memory pools count the memory in use and keep their settings. Memory is released when it is freed, whatever
  the release threshold.

## Functions
"""

TAIL = """
The library also exports the variants for a default stream per thread (`..._ptds`, `..._ptsz`). They are
the same functions: stream 0 is the legacy default stream in them too, and its order is stricter.

## Exported, but not supported

The library also exports these names, so that programs load. The first call of each function prints its name
and the reason; every call returns `cudaErrorNotSupported`. Only the libraries for CUDA 11 and 12 have the
`MultiDevice` launches.

| why | functions |
|---|---|
"""


def page(root):
    header = (root / "include/tyto/cuda_runtime_api.h").read_text(encoding="utf-8")
    table = (root / "src/cudart/api.h").read_text(encoding="utf-8")
    body = header[header.index("/* ---- Errors ---- */"):]
    text = HEAD + "\n| topic | functions |\n|---|---|\n"
    for topic, rest in re.findall(r"/\* ---- (.*?) ---- \*/(.*?)(?=/\* ----|\Z)", body, re.S):
        names = re.findall(r"CUDARTAPI\s+(\w+)\(", rest)
        text += f"| {topic} | " + ", ".join(f"`{name}`" for name in names) + " |\n"
    part = table[table.index("#define CUDART_CAUSES"):]
    causes = re.findall(r'ROW\((\w+), "(.*?)"\)', part[:part.index("\n\n")])
    missing = re.findall(r"ROW\((\w+), (\w+)\)", table[table.index("#define CUDART_MISSING"):])
    text += TAIL
    for cause, why in causes:
        text += f"| {why} | " + ", ".join(f"`{name}`" for name, of in missing if of == cause) + " |\n"
    return text


def main(root):
    root = pathlib.Path(root)
    stored = root / "docs/runtime-api.md"
    made = page(root)
    if os.environ.get("TYTO_BLESS"):
        stored.write_text(made, encoding="utf-8")
    if not stored.is_file() or stored.read_text(encoding="utf-8") != made:
        print(f"{stored} is out of date: TYTO_BLESS=1 rewrites it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
