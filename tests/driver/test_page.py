#!/usr/bin/env python3
"""docs/driver-api.md says what the tables say; TYTO_BLESS=1 rewrites it.

usage: test_page.py ROOT
"""
import os
import pathlib
import re
import sys

HEAD = """# The CUDA driver API

`libtyto` implements the driver API of CUDA 13 on a simulated device; `libcuda.so.1` is the same library
under the name that programs look up. `include/tyto/cuda.h` declares it with the vendor's names, values
and layouts, so a host program compiles against either header. This page is made from that header and
from the export table, `src/driver/api.h`.

## What differs from a GPU

* Kernels of different streams overlap in simulated time, as on a GPU. A launch is kept in its stream until the
  program waits for it or asks about it, copies memory synchronously, frees memory, or ends; then the device
  gets the first kernel of every stream that stream order and events allow. CTAs of a stream of higher priority go
  out first. Kernels of different contexts do not overlap. A functional run has the same order, one kernel at a time.
* Kernels run one at a time, in that order, when something is recorded that belongs to one kernel (`--timeline`,
  `--sample`, `--ctas`, `--profile`, `--policies`, `--snapshot`, `--record-l1d`), with `--check`,
  `--dump-registers` and `--limit-insts`. A cooperative kernel, and one that waits for its children, has the device
  for itself. At most 16 kernels are on the machine at once.
* A programmatic dependent launch (`CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`) begins once every CTA of the kernel
  before it in its stream has executed `griddepcontrol.launch_dependents` or ended. `griddepcontrol.wait` waits for
  the end of that kernel. With anything between the two in the stream, in functional runs and where kernels run one
  at a time, the launch begins when the other has ended. Programmatic events and edges of graphs do not overlap kernels.
* A process that has only the legacy default stream has nothing that could overlap: its launches run when
  they are given, unless their module has `griddepcontrol.launch_dependents`, and a fault's message says where the program launched the kernel. `--serial-kernels`
  and `CUDA_LAUNCH_BLOCKING=1` give this for all streams.
* The first query after a launch answers `CUDA_ERROR_NOT_READY`; each query that does lets the device run until
  a kernel has ended. The host is infinitely fast: between two calls that wait, no simulated time passes.
* A program must not wait in its own code, without a call, for what a kernel writes: nothing runs
  meanwhile. Host functions and operations on memory are done before the call that gives them
  returns, unless their stream waits for a word of memory, so threads and processes may wait for those.
* At most 1024 launches are kept; a further one lets the device run. A copy from pageable memory is
  staged, up to 64 MiB. An allocation in a stream that is to free memory waits for the stream.
* A kernel's dimensions and resources are checked at its launch. After a fault, what the context's streams
  have left is dropped, and kernels that ran next to the faulty one end with it.
* The time between two events is simulated time. Copies and fillings take none.
* A kernel's fault is printed on stderr with the kernel, the line of its PTX, the thread and the address.
  Its code then stays with the context: every later call there returns it until the context is destroyed
  or, for the primary context, reset. Other contexts go on.
* There is one device, of the machine's compute capability (`gpu.compute_capability`; `--compute-capability`
  changes it), with `--functional` too; PTX for later ones is loaded all the same. Modules are PTX
  text (a NUL ends it), a cubin, a fat binary with one of them, or what `cuLinkComplete` made, which links PTX only.
  Which of a fat binary runs: [machine code](machine-code.md#running-machine-code).
* `printf` in a kernel writes at once, so nothing of it is lost, however small the buffer that a program asks for
  (`CU_LIMIT_PRINTF_FIFO_SIZE`), and formats that a GPU leaves as they are written are printed too
  ([printf](real-gpu.md#printf)). An `assert` that fails says it in CUDA's words, with the place behind.
* Wrong and odd calls answer what they answer on a GPU, but for [a few](real-gpu.md#answers). So a launch may
  have more dynamic shared memory than 48 KB holds beside the kernel's own only when
  `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` says so, and limits are what a GPU makes of them. Of the
  stack there is more than the limit tells (`CU_LIMIT_STACK_SIZE`, 1 KB at first): 64 KB or what `--stack`
  says, until a program asks for more.
* Mistakes in PTX go to the error log buffer of `cuModuleLoadDataEx`, else to stderr.
* Page-locked host memory is device memory that the host sees too; kernels use it by its device address.
  Memory from `cuMemHostRegister` stays where it is, and kernels use it there, by the program's own pointers
  and with its pointers in it. Its place in the caches and in DRAM is another: it depends on the order of the
  registrations alone, so that runs are the same wherever the host has put it. An access costs what it costs in
  device memory: the link to the host is not modelled. Memory that the program unmaps while it is registered is
  taken from the kernels, with a message, before the next launch. In a program that is linked without `-pie`,
  memory below 0x4010000 can be registered but not used by kernels; `tyto cc` links so that there is none.
* Kernels reach no other memory of the host (`PAGEABLE_MEMORY_ACCESS` is 0): the fault's message says when an
  address is the program's own and was not registered.
* Managed memory (`cuMemAllocManaged`) needs the device's addresses, from 0xc0000000 on, to be free in the
  host process; where they are not (address sanitizer), it is refused with a message.
* Device attributes tell what works here: copies take no simulated time, so none holds a kernel up
  (`ASYNC_ENGINE_COUNT` is 2); kernels overlap in timed runs (`CONCURRENT_KERNELS` is 1 there). Priorities of
  streams are in CUDA's range, 0 to -5. All that are not 0 are in `src/driver/device.c`.
* Memory pools count what is in use and keep their settings; memory goes back when it is freed, whatever
  the release threshold. Other processes open a pool by its descriptor, and memory of it by what
  `cuMemPoolExportPointer` says.
* `cuCtxCreate` takes parameters (`CUctxCreateParams`) that are all 0, which ask for a context of the whole
  device; those that limit it to some SMs, or share it with graphics, give `CUDA_ERROR_NOT_SUPPORTED`.
* Handles are numbers, not addresses: a stale or foreign one gives `CUDA_ERROR_INVALID_HANDLE`.
* A graph's launch begins its nodes in order: of those whose dependencies are done, always the one that was
  created first. Kernels of nodes that do not depend on each other overlap. A graph with conditional nodes or
  memory runs at its launch, one kernel after the other, when all earlier work is done. Launches of one executable graph follow each other. Dependencies with a cycle are found when a graph is instantiated. While a stream is captured,
  what CUDA forbids is refused and invalidates the capture; a graph launched there becomes a child graph, whose
  nodes come in the order in which a launch does them. Refused by name are the launch there of a graph with
  conditional nodes or memory, the capture of a thread's default stream, nodes of external semaphores,
  dependencies that are not ordinary, and graphs that kernels launch or change.
* Conditional nodes do the graph that a kernel chose by `cudaGraphSetConditional`; a while node in which no
  kernel can change the condition fails instead of going on for ever. Memory of a graph's node has its place
  from the making of the node on; launches decide when it is in use, which
  `cuDeviceGetGraphMemAttribute` tells.
* Kernels may launch kernels, copy and fill (the device runtime, in PTX `__cudaCDP2LaunchDeviceV2` and the
  like, or their earlier names). What a grid asks for is done when it has ended, in the order of the calls,
  whatever the streams; tail launches come after all of that. Each child is a kernel of its own in every
  report; what its launch costs is not modelled. Nesting ends at 24 grids, launches that wait are not limited.
* A child that cannot be (too many threads, no room in shared memory) is found out when it is its turn, after its parent: the kernel's
  own `cudaGetLastError` is `cudaSuccess`, the children behind it do not run, and the host has the error. On a GPU the kernel has
  it, and the others run.
* A kernel may wait for its children (`cudaDeviceSynchronize`, for compute capabilities before 9.0): what the
  grid has asked for so far is then done at once, one kernel after the other. In timed runs its whole grid is swapped
  out meanwhile: its CTAs stand still, and the children have the machine to themselves, with caches of their own
  that stay from one such wait to the next; what swapping costs is not modelled. So any number of CTAs may wait,
  however few the machine holds. Children's time and counters are parts of the kernel's that waited, and its
  clocks go on with them; a timeline, samples and an L1D recording show the waiting grid alone, and so do the figures
  that say how SMs differ in one kernel. Not under `--check` or `--on-fault report`.
* The device runtime answers kernels' questions as the host's functions do: `cudaDeviceGetAttribute`,
  `cudaDeviceGetLimit`, `cudaFuncGetAttributes`, occupancy, texts of errors; its version is 6000, as on a GPU. It
  copies and fills memory in one, two and three dimensions; arrays are refused by name there. A kernel that calls what is not there
  (`cudaGraphLaunch` and the like) is refused, with the call's line; the others of its module run.
* Virtual memory management works in units of 2 MiB; mappings that touch are one range to kernels and copies.
  Memory of `cuMemCreate` can be opened by another process through its descriptor.
* Each process has a device of its own. With interprocess handles (`cuIpcGetMemHandle`, `cuIpcOpenMemHandle`)
  processes of one user on one host read and write the same bytes; what a kernel costs depends on its own
  process's device alone, and what two processes do at once to one word is up to the host. The process that
  gives a handle away makes its device memory a file in the host's memory, which the others open through
  `/proc`; who has it open keeps it. Events of other processes are always complete: what comes before an event
  is done when it is recorded.
* A stream waits where it must: behind a wait (`cuStreamWaitValue32`) whose condition does not hold yet, work
  is kept, and so is that of streams that wait for its events, until the host, a kernel, another stream or
  another process has written the word. Calls about streams look whether that is so. A copy from pageable memory
  takes what is there when it is given; one to there, `cuMemFree` and synchronous calls wait. When no other
  thread or process is left that could end a wait, a message says what is waited for, and the context's error is
  `CUDA_ERROR_LAUNCH_TIMEOUT`; a program that ends with work behind a wait is told so.
* In graphs, nodes that do not depend on one that waits are done. An executable graph whose launch waits cannot
  be changed.
* Textures read sRGB (`CU_TRSF_SRGB`) where 8-bit channels are read as floats in [0, 1], all but the fourth
  channel, before any filter, with a GPU's 8 bits of the curve and 11 of what is filtered; the flag has no
  effect elsewhere. Surfaces may be of any array, whether it was made for them or not. Which samples a GPU
  takes for an anisotropy above 1 is not documented: it is kept, and taken for 1. CUDA has no way to choose how a fetch compares
  depths, so instructions that do are refused when a module is loaded.
* Advice on managed memory is kept for `cuMemRangeGetAttribute`, and has no effect.
* A library (`cuLibraryLoadData`) belongs to no context: its variables are the same in all of them.
* A batch of copies does one after the other; the first that is wrong ends it. While a stream is captured it is
  refused, which the capture survives; a batch of boxes (`cuMemcpy3DBatchAsync`) is captured.
* Attributes of launches, streams and kernel nodes: a cooperative launch, the events of a launch, the shape of
  clusters, programmatic dependent launch, priorities and access windows take effect; others, such as synchronization domains,
  are checked and kept, without effect.
* Any thread may call; calls run one after another. A call costs tens of nanoseconds (`make bench`).

Options come from the environment variable `TYTO_OPTIONS` ([command.md](command.md)); at the end of the
process the library prints its summary and writes the files that the options name. To read counters from a
program of one's own, use [the library](library.md) directly.

## Functions

Names are those a program writes; the library also exports the current symbol of a versioned name
(`cuMemAlloc_v2`) and the forms for a default stream per thread (`..._ptds`, `..._ptsz`), which are the
same functions: there stream 0 is the legacy default stream, whose order is stricter. `CU_STREAM_PER_THREAD` is each
thread's own. `cuGetProcAddress` finds them all.
"""

TAIL = """
## Exported, but not supported

So that programs load, the library exports these names too. The first call of each prints its name and the
reason; all return `CUDA_ERROR_NOT_SUPPORTED`.

| why | functions |
|---|---|
"""


def refused(table, prefix):
    """The rows of the table of what is missing, one for each cause."""
    part = table[table.index(f"#define {prefix}_CAUSES"):]
    causes = re.findall(r'ROW\((\w+), "(.*?)"\)', part[:part.index("\n\n")])
    missing = re.findall(r"ROW\((\w+), (\w+)\)", table[table.index(f"#define {prefix}_MISSING"):])
    return "".join(f"| {text} | " + ", ".join(f"`{name}`" for name, of in missing if of == cause) + " |\n"
                   for cause, text in causes)


def page(root):
    header = (root / "include/tyto/cuda.h").read_text(encoding="utf-8")
    table = (root / "src/driver/api.h").read_text(encoding="utf-8")
    body = header[header.index("/* ---- Start,"):]
    text = HEAD + "\n| topic | functions |\n|---|---|\n"
    for topic, rest in re.findall(r"/\* ---- (.*?) ---- \*/(.*?)(?=/\* ----|\Z)", body, re.S):
        names = re.findall(r"CUDAAPI\s+(cu\w+)\(", rest)
        text += f"| {topic} | " + ", ".join(f"`{name}`" for name in names) + " |\n"
    return text + TAIL + refused(table, "API")


def main(root):
    root = pathlib.Path(root)
    stored = root / "docs/driver-api.md"
    made = page(root)
    if os.environ.get("TYTO_BLESS"):
        stored.write_text(made, encoding="utf-8")
    if not stored.is_file() or stored.read_text(encoding="utf-8") != made:
        print(f"{stored} is out of date: TYTO_BLESS=1 rewrites it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
