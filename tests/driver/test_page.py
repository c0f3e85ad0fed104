#!/usr/bin/env python3
"""docs/driver-api.md must match the header and the tables; TYTO_BLESS=1 rewrites it.

usage: test_page.py ROOT
"""
import os
import pathlib
import re
import sys

HEAD = """# The CUDA driver API

`libtyto` implements the driver API of CUDA 13 on a simulated device. `libcuda.so.1` is the same library
under the name that programs look up. `include/tyto/cuda.h` declares the API with the vendor's names, values
and layouts, so a host program compiles against either header. This page is generated from that header and
from the export table, `src/driver/api.h`.

## What differs from a GPU

* Kernels of different streams overlap in simulated time, as on a GPU. A launch is kept in its stream until the
  program waits for it or asks about it, copies memory synchronously, frees memory, or ends. Then the device
  receives the first kernel of every stream that stream order and events allow. CTAs of a stream with higher
  priority start first. Kernels of different contexts do not overlap. A functional run has the same order, one
  kernel at a time.
* Kernels run one at a time, in that order, if something is recorded that belongs to one kernel (`--timeline`,
  `--sample`, `--ctas`, `--profile`, `--policies`, `--snapshot`, `--record-l1d`), and with `--check`,
  `--dump-registers` and `--limit-insts`. A cooperative kernel, and one that waits for its children, has the device
  to itself. At most 16 kernels are on the machine at once.
* A programmatic dependent launch (`CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`) starts when every CTA of
  the previous kernel in its stream has executed `griddepcontrol.launch_dependents` or ended. `griddepcontrol.wait`
  waits for the end of that kernel. If there is anything but waits for events between the two in the stream, in
  functional runs, and where kernels run one at a time, the launch starts when the other kernel has ended.
* A kernel behind a wait for a programmatic event (`CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT`) starts in the same way. With
  `triggerAtBlockStart` it starts when every CTA of the recording kernel has begun. So it does for a launch completion
  event, for whose kernel `griddepcontrol.wait` does not wait. Copies, host functions and `cuEventSynchronize` wait for
  the end of the recording kernel. The event must not be timed. A kernel has at most 8 such dependencies at a time.
* Dependencies of graphs have ports and types (`CUgraphEdgeData`), with the same effects. A node behind a kernel that
  started early starts when that kernel and those that it depends on have ended. The capture of a dependent launch, or of
  a wait for an event of a launch, makes such a dependency. It does not join a forked stream to its capture.
* A process that has only the legacy default stream has nothing that could overlap. Its launches run
  immediately, unless their module has `griddepcontrol.launch_dependents`, and the message about a fault says where
  the program launched the kernel. `--serial-kernels` and `CUDA_LAUNCH_BLOCKING=1` give this for all streams.
* The first query after a launch returns `CUDA_ERROR_NOT_READY`. Each query that does so lets the device run until
  a kernel has ended. The host is infinitely fast: between two calls that wait, no simulated time passes.
* A program must not wait in its own code, without a call, for something that a kernel writes: nothing runs
  meanwhile. Host functions and memory operations are complete when their call returns, unless their stream waits
  for a word of memory. So threads and processes may wait for those.
* At most 1024 launches are kept; a further one lets the device run. A copy from pageable memory is
  staged, up to 64 MiB. An allocation in a stream that is to free memory waits for the stream.
* A kernel's dimensions and resources are checked at its launch. After a fault, the remaining work of the context's
  streams is dropped, and kernels that ran concurrently with the faulty one end with it.
* The time between two events is simulated time. Copies and memsets take none.
* A kernel's fault is printed on stderr with the kernel, the line of its PTX, the thread and the address.
  The error code then stays with the context: every later call there returns it until the context is destroyed
  or, for the primary context, reset. Other contexts are not affected.
* The driver's launch functions return the fault of a kernel that runs immediately. A GPU returns it at the next wait, as Tyto's
  runtime API does.
* There is one device, with the machine's compute capability (`gpu.compute_capability`; `--compute-capability`
  changes it), also with `--functional`. PTX for later architectures is loaded anyway. Modules are PTX
  text (terminated by a NUL), a cubin, a fat binary that contains one of them, or the output of `cuLinkComplete`,
  which links only PTX. [Machine code](machine-code.md#running-machine-code) describes which part of a fat binary runs.
* `printf` in a kernel writes immediately, so no output is lost, even if the buffer that a program requests
  (`CU_LIMIT_PRINTF_FIFO_SIZE`) is small. Formats that a GPU does not expand are expanded too
  ([printf](real-gpu.md#printf)). A failed `assert` prints CUDA's words, followed by the place.
* Wrong and odd calls return what they return on a GPU, with [a few exceptions](real-gpu.md#answers). For example, a
  launch may have more dynamic shared memory than fits into 48 KB next to the kernel's own only if
  `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` allows it, and limits are rounded as on a GPU. The
  stack is larger than its limit reports (`CU_LIMIT_STACK_SIZE`, initially 1 KB): it has 64 KB or the size of
  `--stack`, until a program requests more.
* Mistakes in PTX are written to the error log buffer of `cuModuleLoadDataEx`, or to stderr if there is none.
* Page-locked host memory is device memory that the host sees too; kernels use its device address.
  Memory from `cuMemHostRegister` stays where it is. Kernels use it there, through the program's own pointers
  and with pointers stored in it. Its position in the caches and in DRAM depends only on the order of the
  registrations, so runs do not depend on its host address. An access costs the same as an access to device
  memory: the link to the host is not modelled. If the program unmaps registered memory, kernels lose access to
  it before the next launch, with a message. In a program that is linked without `-pie`, memory below 0x4010000
  can be registered, but kernels cannot use it; `tyto cc` links programs so that they have none.
* Kernels cannot access other memory of the host (`PAGEABLE_MEMORY_ACCESS` is 0). The message about the fault says if
  an address belongs to the program and was not registered.
* Managed memory (`cuMemAllocManaged`) requires that the device's addresses, starting at 0xc0000000, are free in
  the host process. If they are not (address sanitizer), the call fails with a message.
* Device attributes report what works in Tyto. Copies take no simulated time, so they never delay a kernel
  (`ASYNC_ENGINE_COUNT` is 2). Kernels overlap in timed runs (`CONCURRENT_KERNELS` is 1 there). Priorities of
  streams have CUDA's range, 0 to -5. `src/driver/device.c` lists all attributes that are not 0.
* Memory pools count the memory in use and keep their settings. Memory is released when it is freed, whatever
  the release threshold. Other processes open a pool by its descriptor, and its memory by the data from
  `cuMemPoolExportPointer`.
* `cuCtxCreate` accepts parameters (`CUctxCreateParams`) that are all 0; they request a context of the whole
  device. Parameters that limit it to some SMs, or share it with graphics, return `CUDA_ERROR_NOT_SUPPORTED`.
* Handles are numbers, not addresses: a stale or foreign handle returns `CUDA_ERROR_INVALID_HANDLE`.
* A launch of a graph starts its nodes in order: of the nodes whose dependencies are complete, always the one that
  was created first. Kernels of nodes that do not depend on each other overlap. A graph with conditional nodes or
  memory runs at its launch, one kernel after another, when all earlier work is complete. Launches of one executable
  graph run one after another. Cycles of dependencies are found when a graph is instantiated. While a stream is
  captured, calls that CUDA forbids are refused and invalidate the capture. A graph launched there becomes a child
  graph, with its nodes in the order in which a launch executes them, one after another. A capture refuses by
  name a graph with conditional nodes or memory, and a thread's default stream. Also refused by name are nodes of
  external semaphores, and graphs that kernels launch or change.
* Conditional nodes execute the graph that a kernel selects with `cudaGraphSetConditional`. A while node in which no
  kernel can change the condition fails instead of running forever. Memory of a graph's node has its address
  from the creation of the node. Launches determine when it is in use, which `cuDeviceGetGraphMemAttribute` reports.
* Kernels may launch kernels, copy and fill (the device runtime, in PTX `__cudaCDP2LaunchDeviceV2` and the
  like, or their earlier names). The requests of a grid are executed when it has ended, in the order of the calls,
  whatever their streams; tail launches follow. Each child is a separate kernel in every
  report; the cost of its launch is not modelled. Nesting is limited to 24 grids; pending launches are not limited.
* A child that cannot run (too many threads, too little shared memory) is found when it is its turn, after its
  parent. The kernel's own `cudaGetLastError` returns `cudaSuccess`, later children do not run, and the host receives
  the error. On a GPU the kernel receives it, and the others run.
* A kernel may wait for its children (`cudaDeviceSynchronize`, for compute capabilities before 9.0). The requests that
  the grid has made so far are then executed immediately, one kernel after another. In timed runs the whole grid is
  swapped out meanwhile: its CTAs do not run, and the children have the machine to themselves. The children have their
  own caches, which persist from one such wait to the next. The cost of swapping is not modelled. So any number of CTAs may wait,
  even if the machine holds only a few. The children's time and counters are included in those of the kernel that
  waited, and its clocks advance with them. A timeline, samples and an L1D recording show only the waiting grid, and
  so do the statistics about differences between SMs in one kernel. This is not available with `--check` or
  `--on-fault report`.
* The device runtime answers kernels' queries as the host's functions do: `cudaDeviceGetAttribute`,
  `cudaDeviceGetLimit`, `cudaFuncGetAttributes`, occupancy, texts of errors; its version is 6000, as on a GPU. It
  copies and fills memory in one, two and three dimensions; it refuses arrays by name. A kernel that calls a function
  that does not exist (`cudaGraphLaunch` and the like) is refused, with the line of the call; the other kernels of its
  module run.
* Virtual memory management works in units of 2 MiB. Adjacent mappings are one range for kernels and copies.
  Another process can open memory of `cuMemCreate` through its descriptor.
* Each process has its own device. With interprocess handles (`cuIpcGetMemHandle`, `cuIpcOpenMemHandle`),
  processes of one user on one host read and write the same bytes. The cost of a kernel depends only on the device
  of its process, and the host decides the result of simultaneous accesses of two processes to one word. The process
  that exports a handle turns its device memory into a file in the host's memory, which the others open through
  `/proc`; a process that has opened it keeps it. Events of other processes are always complete: the work before an
  event is done when the event is recorded.
* A stream waits where it must. Work behind a wait (`cuStreamWaitValue32`) whose condition does not hold yet
  is kept, and so is work of streams that wait for its events. The wait ends when the host, a kernel, another stream or
  another process has written the word. Calls about streams check the condition. A copy from pageable memory
  reads it when the call is made; a copy to pageable memory, `cuMemFree` and synchronous calls wait. If no other
  thread or process could end a wait, a message says what is waited for, and the context's error is
  `CUDA_ERROR_LAUNCH_TIMEOUT`. If a program ends with work behind a wait, a message says so.
* In graphs, nodes that do not depend on a waiting node are executed. An executable graph cannot be changed while its
  launch waits.
* Textures decode sRGB (`CU_TRSF_SRGB`) where 8-bit channels are read as floats in [0, 1]. All channels but the fourth
  are decoded, before any filter, with a GPU's 8 bits of the curve and 11 bits of filtered values. The flag has no
  effect elsewhere. Surfaces may use any array, whether or not it was created for them. It is not documented which
  samples a GPU takes for an anisotropy above 1: the value is stored, but 1 is used. CUDA has no way to select how a
  fetch compares depths, so modules with instructions that do so are refused when they are loaded.
* Advice on managed memory is stored for `cuMemRangeGetAttribute`, and has no effect.
* A library (`cuLibraryLoadData`) belongs to no context: its variables are the same in all contexts.
* A batch of copies executes one after another; the first wrong copy ends it. While a stream is captured, the batch is
  refused, and the capture stays valid. A batch of boxes (`cuMemcpy3DBatchAsync`) is captured.
* The launch of a kernel with `.blocksareclusters` counts clusters. Its block is the kernel's own, or 1, 1, 1.
* Attributes of launches, streams and kernel nodes: a cooperative launch, the events of a launch, the shape of
  clusters, programmatic dependent launch, priorities and access windows take effect. Others, such as synchronization
  domains, are checked and stored, without effect.
* Any thread may make calls; calls run one after another. A call costs tens of nanoseconds (`make bench`).

Options come from the environment variable `TYTO_OPTIONS` ([command.md](command.md)). At the end of the
process the library prints its summary and writes the files that the options name. To read counters in your own
program, use [the library](library.md) directly.

## Functions

The names are those that a program writes. The library also exports the current symbol of a versioned name
(`cuMemAlloc_v2`) and the variants for a default stream per thread (`..._ptds`, `..._ptsz`). They are the
same functions: stream 0 is the legacy default stream in them too, and its order is stricter. `CU_STREAM_PER_THREAD`
is each thread's own stream. `cuGetProcAddress` finds them all.
"""

TAIL = """
## Exported, but not supported

The library also exports these names, so that programs load. The first call of each function prints its name
and the reason; every call returns `CUDA_ERROR_NOT_SUPPORTED`.

| why | functions |
|---|---|
"""


def refused(table, prefix):
    """The rows of the table of missing functions, one for each cause."""
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
