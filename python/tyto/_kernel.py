"""PTX kernels on NumPy arrays."""
import collections
import contextlib
import json
import os
import pathlib
import threading
import weakref
from typing import Any, Deque, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._errors import TytoError
from ._library import MESSAGE_BYTES, encode, ffi, library, options as option_words, status_name, take, text, whole, words
from ._results import Run
from ._scheduler import Policy, Scheduler, asking

Dimensions = Union[int, Sequence[int]]

SCALARS = {".u8": "B", ".s8": "b", ".b8": "B", ".u16": "H", ".s16": "h", ".b16": "H", ".f16": "e",
           ".u32": "I", ".s32": "i", ".b32": "I", ".f32": "f", ".u64": "Q", ".s64": "q", ".b64": "Q", ".f64": "d"}
GAP_BYTES = 256  # between arrays, so that a kernel that runs past the end of one is reported


class In:
    """An array that the kernel only reads; it is not copied back."""

    def __init__(self, array: "numpy.ndarray[Any, Any]") -> None:
        self.array = array


class Simulator:
    """A GPU with its own memory. Several can exist at once.

    `scheduler` is a name or a subclass of tyto.Scheduler. `set` changes values of the machine;
    `options` are further words of `tyto run`.
    """

    def __init__(self, machine: Optional[str] = None, scheduler: Any = None, cta_scheduler: Optional[str] = None,
                 set: Optional[Mapping[str, object]] = None, options: Sequence[str] = ()) -> None:
        if isinstance(scheduler, Scheduler):
            raise TytoError(f"scheduler: pass the class {type(scheduler).__name__} instead of an object; each SM gets its own object", "bad option")
        self._policy = Policy(scheduler) if callable(scheduler) else None
        name = self._policy.name if self._policy else scheduler
        listed = ["--quiet", "--padding", str(GAP_BYTES), *option_words(machine, name, cta_scheduler, set, options)]
        array, _kept = words(listed)
        message = ffi.new("char[]", MESSAGE_BYTES)
        self._lib = library()
        self._simulator = self._lib.tyto_new(len(listed), array, message, MESSAGE_BYTES)
        if self._simulator == ffi.NULL:
            if self._policy:
                self._policy.close()
            raise TytoError(text(message), "bad option")
        if self._policy:
            simulator, lib = self._simulator, self._lib

            def interrupt() -> None:
                lib.tyto_interrupt(simulator)

            self._policy.interrupt = interrupt
        self._lock = threading.RLock()
        self._users = 0  # calls of the library under way
        self._unused: Deque[Any] = collections.deque()  # modules of kernels that are gone
        self._end = weakref.finalize(self, _free, self._lib, self._simulator, self._policy)

    def close(self) -> None:
        """Frees the simulator. No call may be under way, and none may follow."""
        with self._lock:
            self._refuse_own_scheduler()
            if self._users:
                raise TytoError("the simulator cannot be closed while a call is under way")
            if self._end.alive:
                self._end()

    def __enter__(self) -> "Simulator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _alive(self) -> Any:
        if not self._end.alive:
            raise TytoError("the simulator is closed")
        return self._simulator

    def _refuse_own_scheduler(self) -> None:
        if self._policy and self._policy in asking():
            raise TytoError("a scheduler cannot call its own simulator while it schedules a launch")

    @contextlib.contextmanager
    def _use(self) -> Iterator[Any]:
        """The library's simulator, which close() does not free meanwhile."""
        with self._lock:
            self._refuse_own_scheduler()
            simulator = self._alive()
            self._users += 1
            while self._unused and self._users == 1:
                self._lib.tyto_unload(self._unused.popleft())
        try:
            yield simulator
        finally:
            with self._lock:
                self._users -= 1

    def _check(self, status: int) -> None:
        if status:
            raise TytoError(text(self._lib.tyto_message(self._alive())), status_name(status))

    def results(self, program: str = "python") -> Run:
        """All launches so far, as a run."""
        with self._use() as simulator:
            return Run(json.loads(take(self._lib.tyto_report_json(simulator, encode(program)))))

    def _last(self, program: str) -> "Launch":
        """The last launch; a report of all launches would take longer after each launch."""
        simulator = self._alive()
        report = json.loads(take(self._lib.tyto_launch_json(simulator, encode(program),
                                                            self._lib.tyto_result_count(simulator) - 1)))
        return Launch(report, report["kernels"][0])

    def _launch(self, launch: Any) -> None:
        """Launches on another thread, so that Ctrl-C can end the launch."""
        ended: List[int] = []
        simulator = self._alive()
        if self._policy:
            self._policy.asking = (*asking(), self._policy)
        thread = threading.Thread(target=lambda: ended.append(self._lib.tyto_launch(simulator, launch)))
        thread.start()
        try:
            thread.join()
        except BaseException:
            self._lib.tyto_interrupt(simulator)
            thread.join()
            raise
        if self._policy and self._policy.error is not None:
            error, self._policy.error = self._policy.error, None
            raise error
        self._check(ended[0])


def _free(lib: Any, simulator: Any, policy: Optional[Policy]) -> None:
    lib.tyto_free(simulator)
    if policy:
        policy.close()


class Launch(Run):
    """The result of one launch of a kernel: its counters and ratios by name."""

    def __init__(self, report: Mapping[str, Any], launch: Mapping[str, Any]) -> None:
        super().__init__({**report, "total": dict(launch), "kernels": [dict(launch)]})

    def __repr__(self) -> str:
        cycles = self.report["total"].get("cycles")
        return f"<tyto.Launch of {self.report['total']['kernel']}: {'functional' if cycles is None else f'{cycles:,} cycles'}>"


class Kernel:
    """A kernel of a PTX text, called with NumPy arrays and numbers.

        saxpy = tyto.Kernel("saxpy.ptx", machine="owl", scheduler="owl")
        launch = saxpy(y, In(x), 2.0, len(x), grid=4, block=256)

    Arrays are copied to the device before a launch and back after it; In(array) is not copied back.
    Numbers are converted to the type of the parameter. Without `simulator` the kernel makes its own.
    """

    def __init__(self, ptx: Union[str, "os.PathLike[str]"], name: Optional[str] = None,
                 simulator: Optional[Simulator] = None, machine: Optional[str] = None, scheduler: Any = None,
                 cta_scheduler: Optional[str] = None, set: Optional[Mapping[str, object]] = None,
                 options: Sequence[str] = ()) -> None:
        source, label = _source(ptx)
        self.simulator = simulator or Simulator(machine, scheduler, cta_scheduler, set, options)
        self._lib = library()
        encoded = encode(source)
        module = ffi.new("TytoModule **")
        with self.simulator._use() as of:
            self.simulator._check(self._lib.tyto_load(of, encode(label), encoded, len(encoded), module))
            try:
                self._describe(module[0], name, label)
            finally:  # deferred, because a kernel may be freed at any time, even during a launch
                weakref.finalize(self, self.simulator._unused.append, module[0]).atexit = False

    def _describe(self, module: Any, name: Optional[str], label: str) -> None:
        self._module = module
        self._index = self._find(name, label)
        kernel = self._lib.tyto_kernel(self._module, self._index)
        self.name = text(kernel.name)
        self.registers = int(kernel.registers)
        self.parameters = [(text(kernel.parameters[i].name), text(kernel.parameters[i].type),
                            int(kernel.parameters[i].size_bytes)) for i in range(kernel.parameter_count)]

    def _find(self, name: Optional[str], label: str) -> int:
        names = [text(self._lib.tyto_kernel(self._module, i).name)
                 for i in range(self._lib.tyto_kernel_count(self._module))]
        if name is None:
            if len(names) != 1:
                raise TytoError(f"{label}: name one of its kernels: {', '.join(names) or 'it has none'}", "bad PTX")
            return 0
        found = int(self._lib.tyto_find_kernel(self._module, encode(name)))
        if found < 0:
            raise TytoError(f"{label}: there is no kernel {name!r}, only {', '.join(names) or 'none'}", "bad PTX")
        return found

    def __repr__(self) -> str:
        listed = ", ".join(f"{kind} {name}" for name, kind, _ in self.parameters)
        return f"<tyto.Kernel {self.name}({listed})>"

    def __call__(self, *arguments: Any, grid: Dimensions, block: Dimensions, shared_bytes: int = 0) -> Launch:
        """Runs the kernel and returns the result of the launch."""
        if len(arguments) != len(self.parameters):
            wanted = ", ".join(f"{kind} {name}" for name, kind, _ in self.parameters)
            raise TytoError(f"{self.name}: takes {len(self.parameters)} arguments ({wanted}), got {len(arguments)}", "bad launch")
        sizes = {"grid": _dimensions("grid", grid), "block": _dimensions("block", block)}
        dynamic = whole(shared_bytes, 1 << 32)
        if dynamic is None:
            raise TytoError(f"shared_bytes: {shared_bytes!r} is not a number of bytes", "bad launch")
        arrays = [self._array(i, argument) for i, argument in enumerate(arguments)]
        values = [None if array else self._scalar(i, arguments[i]) for i, array in enumerate(arrays)]
        with self.simulator._use():
            return self._run(arrays, values, sizes, dynamic)

    def _run(self, arrays: "Sequence[Optional[Tuple[numpy.ndarray[Any, Any], bool]]]", values: Sequence[Optional[bytes]],
             sizes: Mapping[str, Tuple[int, int, int]], shared_bytes: int) -> Launch:
        addresses: Dict[int, int] = {}
        try:
            for array, _ in filter(None, arrays):
                if id(array) not in addresses:
                    addresses[id(array)] = self._upload(array)
            packed = [values[i] if pair is None else addresses[id(pair[0])].to_bytes(8, "little")
                      for i, pair in enumerate(arrays)]
            self._launch(packed, sizes, shared_bytes)
            for array, is_written in filter(None, arrays):
                if is_written:
                    self._download(array, addresses[id(array)])
        finally:
            for address in addresses.values():
                self._lib.tyto_release(self.simulator._alive(), address)
        return self.simulator._last(self.name)

    # ---- Arguments ----

    def _place(self, i: int) -> str:
        return f"{self.name}: argument {i} ({self.parameters[i][0]})"

    def _array(self, i: int, argument: Any) -> "Optional[Tuple[numpy.ndarray[Any, Any], bool]]":
        """The array, and whether to copy it back; None: the argument is a number."""
        is_written = not isinstance(argument, In)
        array = argument if is_written else argument.array
        if not is_written and not isinstance(array, numpy.ndarray):
            raise TytoError(f"{self._place(i)}: In takes a NumPy array, not {type(array).__name__}", "bad launch")
        if not isinstance(array, numpy.ndarray) or array.ndim == 0:
            return None
        if self.parameters[i][2] != 8:
            raise TytoError(f"{self._place(i)}: an array's address has 8 bytes, the parameter is {self.parameters[i][1]}",
                            "bad launch")
        if array.dtype.hasobject or array.dtype.kind not in "biufcV":
            raise TytoError(f"{self._place(i)}: a device cannot hold elements of dtype {array.dtype}, only numbers",
                            "bad launch")
        if array.dtype.byteorder == ">":
            raise TytoError(f"{self._place(i)}: dtype {array.dtype} is big-endian, the device is not; pass "
                            "array.astype(array.dtype.newbyteorder('='))", "bad launch")
        if not array.flags.c_contiguous:
            raise TytoError(f"{self._place(i)}: the array is not contiguous; pass numpy.ascontiguousarray(array)", "bad launch")
        if not array.size:
            raise TytoError(f"{self._place(i)}: the array has no elements", "bad launch")
        if is_written and not array.flags.writeable:
            raise TytoError(f"{self._place(i)}: the array is read-only; pass tyto.In(array)", "bad launch")
        return array, is_written

    def _scalar(self, i: int, argument: Any) -> bytes:
        _, kind, size = self.parameters[i]
        code = SCALARS.get(kind)
        if isinstance(argument, (bytes, bytearray)) and len(argument) == size:
            return bytes(argument)
        if code is None or size != numpy.dtype(code).itemsize:
            raise TytoError(f"{self._place(i)}: the parameter is {size} bytes of {kind}: pass them as bytes", "bad launch")
        if not isinstance(argument, (bool, int, float, numpy.generic)) and not (
                isinstance(argument, numpy.ndarray) and argument.ndim == 0):
            raise TytoError(f"{self._place(i)}: takes a NumPy array or a number, not {type(argument).__name__}", "bad launch")
        try:
            return _packed(argument, numpy.dtype(code), kind)
        except (TypeError, ValueError, OverflowError):
            raise TytoError(f"{self._place(i)}: {argument!r} does not fit into {kind}{_meant(argument, kind, 8 * size)}",
                            "bad launch") from None

    # ---- The device ----

    def _upload(self, array: "numpy.ndarray[Any, Any]") -> int:
        address = ffi.new("uint64_t *")
        simulator = self.simulator._alive()
        self.simulator._check(self._lib.tyto_alloc(simulator, array.nbytes, address))
        bytes_of = ffi.from_buffer(array.reshape(-1).view(numpy.uint8))
        self.simulator._check(self._lib.tyto_write(simulator, address[0], bytes_of, array.nbytes))
        return int(address[0])

    def _download(self, array: "numpy.ndarray[Any, Any]", address: int) -> None:
        bytes_of = ffi.from_buffer(array.reshape(-1).view(numpy.uint8), require_writable=True)
        self.simulator._check(self._lib.tyto_read(self.simulator._alive(), address, bytes_of, array.nbytes))

    def _launch(self, packed: Sequence[Optional[bytes]], sizes: Mapping[str, Tuple[int, int, int]], shared_bytes: int) -> None:
        kept = [ffi.new("char[]", argument or b"\0") for argument in packed]
        arguments = ffi.new("const void *[]", [ffi.cast("const void *", one) for one in kept] or [ffi.NULL])
        launch = ffi.new("TytoLaunch *", {
            "module": self._module, "kernel": self._index, "grid": sizes["grid"], "block": sizes["block"],
            "shared_bytes": shared_bytes, "arguments": arguments, "argument_count": len(kept)})
        self.simulator._launch(launch)


def _packed(argument: Any, dtype: "numpy.dtype[Any]", kind: str) -> bytes:
    """The number as a parameter of the kind. Raises ValueError, TypeError or OverflowError if it does not fit."""
    if dtype.kind == "f":
        number = float(argument)
        with numpy.errstate(over="ignore", under="ignore"):
            rounded = numpy.asarray(number, dtype=dtype)
        if numpy.isinf(rounded) and not numpy.isinf(number):
            raise ValueError
        return bytes(rounded.tobytes())
    if isinstance(argument, (float, numpy.floating)) and not float(argument).is_integer():
        raise ValueError
    number, bits, typed = int(argument), 8 * dtype.itemsize, getattr(argument, "dtype", None)
    is_typed = typed is not None and typed.kind in "iu" and typed.itemsize == dtype.itemsize  # keeps the bits, like s32: and u32: of tyto launch
    least = 0 if kind.startswith(".u") else -(1 << bits - 1)
    end = 1 << (bits - 1 if kind.startswith(".s") else bits)
    if not is_typed and not least <= number < end:
        raise ValueError
    return (number % (1 << bits)).to_bytes(dtype.itemsize, "little")


def _meant(argument: Any, kind: str, bits: int) -> str:
    """How to pass the bits of a number with the other sign, because compilers declare an `int` as .u32."""
    if kind.startswith(".f") or not isinstance(argument, int) or not -(1 << bits - 1) <= argument < 1 << bits:
        return ""
    return f"; numpy.{'int' if argument < 0 else 'uint'}{bits}({argument}) gives its bits"


def _source(ptx: Union[str, "os.PathLike[str]"]) -> Tuple[str, str]:
    """The PTX and its name, from a text or a file."""
    if isinstance(ptx, str) and "\n" in ptx:
        return ptx, "ptx"
    if not isinstance(ptx, (str, os.PathLike)):
        raise TytoError(f"ptx: a text of PTX or the path of a file, not {type(ptx).__name__}", "bad file")
    try:
        return pathlib.Path(ptx).read_text(encoding="utf-8"), str(ptx)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TytoError(f"{ptx}: cannot read it: {reason}", "bad file") from None


def _dimensions(what: str, of: Dimensions) -> Tuple[int, int, int]:
    listed = list(of) if isinstance(of, (list, tuple)) else [of]
    if not 1 <= len(listed) <= 3 or not all(
            isinstance(n, (int, numpy.integer)) and not isinstance(n, bool) and 0 < n < 1 << 32 for n in listed):
        raise TytoError(f"{what}: {of!r} is not one to three numbers from 1 on", "bad launch")
    x, y, z = [int(n) for n in listed] + [1] * (3 - len(listed))
    return x, y, z
