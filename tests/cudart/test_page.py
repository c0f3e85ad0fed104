#!/usr/bin/env python3
"""docs/runtime-api.md says what the tables say; TYTO_BLESS=1 rewrites it.

usage: test_page.py ROOT
"""
import os
import pathlib
import re
import sys

HEAD = """# The CUDA runtime API

`libcudart.so.13` implements the runtime API of CUDA 13 on top of [the driver API](driver-api.md), so
that programs built by nvcc run unmodified under `tyto run`, also those that hold the
[static runtime](cuda-programs.md#static-runtime). `libcudart.so.12` and
`libcudart.so.11.0` are the same code for programs of those releases. `include/tyto/cuda_runtime_api.h`
declares the functions with the vendor's names, values and layouts. This page is made from that header
and from the export table, `src/cudart/api.h`.

## What differs from a GPU

* What [the driver API's page](driver-api.md) says: when kernels run and overlap; one device, 0, of
  the machine's compute capability unless an option says otherwise; events tell simulated time; faults are
  printed with kernel, line and address.
* A fat binary is opened when one of its kernels or variables is first used. Of its PTX texts the one for
  the nearest architecture up to the device's is taken, else the lowest. Without PTX, or with `--code machine`,
  [machine code](machine-code.md) for the device runs. Programs that were linked with `-rdc=true` work when their objects hold PTX,
  or the program machine code for the device. Machine code for another device alone gives
  `cudaErrorNoKernelImageForDevice` and a message that says which device runs it, and how to build with PTX.
* A kernel's fault is told by the call after the launch, as on a GPU, and by every further call until
  `cudaDeviceReset`; with `CUDA_LAUNCH_BLOCKING=1` in the environment the launch itself tells of it.
* Wrong and odd calls answer what CUDA 13's runtime answers on a GPU, but for [a few](real-gpu.md#answers). The
  libraries for CUDA 11 and 12 differ from it where their manuals do: too large a grid or block is
  `cudaErrorInvalidConfiguration`, and what is no kernel `cudaErrorInvalidDeviceFunction`.
* Memory pools count what is in use and keep their settings; memory goes back when it is freed, whatever
  the release threshold.

## Functions
"""

TAIL = """
The library also exports the forms for a default stream per thread (`..._ptds`, `..._ptsz`), which are
the same functions: there stream 0 is the legacy default stream, whose order is stricter.

## Exported, but not supported

So that programs load, the library exports these names too. The first call of each prints its name and the
reason; all return `cudaErrorNotSupported`. `MultiDevice` launches are in the
libraries for CUDA 11 and 12 only.

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
