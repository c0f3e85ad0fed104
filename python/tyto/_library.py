"""Finds libtyto and the command tyto, and opens the library with its declarations (cffi, ABI mode)."""
import ctypes.util
import functools
import operator
import os
import pathlib
import shutil
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

import cffi

from ._errors import TytoError

MESSAGE_BYTES = 16384
STATUSES = ("ok", "bad option", "bad PTX", "bad address", "out of memory", "bad launch", "kernel failed",
            "interrupted", "bad file", "checks failed", "stopped")

ffi = cffi.FFI()
ffi.cdef((pathlib.Path(__file__).parent / "declarations.h").read_text(encoding="utf-8"))


def _build_folder() -> pathlib.Path:
    """The build folder of Tyto, if this package is in its source tree."""
    return pathlib.Path(__file__).resolve().parents[2] / "build"


@functools.lru_cache(maxsize=None)
def command() -> str:
    """The path of the command tyto: from the environment variable TYTO, else from PATH, else from the build folder."""
    named = os.environ.get("TYTO")
    built = _build_folder() / "tyto"
    found = named or shutil.which("tyto") or (str(built) if built.is_file() else None)
    if not found or not shutil.which(found):
        raise TytoError(f"cannot find the command tyto{': TYTO is ' + named if named else ''}; install Tyto, or set "
                        "the environment variable TYTO to its path", "command")
    return os.path.abspath(found) if os.sep in found else str(shutil.which(found))


def _candidates() -> Iterator[str]:
    named = os.environ.get("TYTO_LIBRARY")
    if named:
        yield named
        return
    try:
        folder = pathlib.Path(command()).resolve().parent
    except TytoError:
        folder = _build_folder()
    for place in (folder, *sorted((folder.parent / "lib").glob("*-linux-*")), folder.parent / "lib",
                  folder.parent / "lib64"):
        if (place / "libtyto.so.0").is_file():
            yield str(place / "libtyto.so.0")
    yield "libtyto.so.0"
    found = ctypes.util.find_library("tyto")
    if found:
        yield found


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """libtyto, opened once."""
    reasons: List[str] = []
    for path in _candidates():
        try:
            return ffi.dlopen(path)
        except OSError as error:
            reasons.append(str(error))
    raise TytoError("cannot open libtyto; install Tyto, or set the environment variable TYTO_LIBRARY to its path: "
                    + "; ".join(reasons), "library")


def library_folder() -> pathlib.Path:
    """The folder of the library that was opened."""
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")[2]
        if library() is not None and "libtyto.so" in path:
            return pathlib.Path("/" + path).parent
    raise TytoError("cannot find the file of libtyto", "library")


def text(pointer: Any) -> str:
    """A C text."""
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def take(pointer: Any) -> str:
    """A C text that the caller must free: copies and frees it."""
    value = text(pointer)
    _libc().free(pointer)
    return value


@functools.lru_cache(maxsize=None)
def _libc() -> Any:
    return ffi.dlopen(None)


def status_name(status: int) -> str:
    return STATUSES[status] if 0 <= status < len(STATUSES) else f"status {status}"


def words(of: Sequence[str]) -> "tuple[Any, List[Any]]":
    """An array of C texts, and the objects that keep it alive."""
    kept = [ffi.new("char[]", encode(word)) for word in of]
    return ffi.new("const char *[]", kept or [ffi.NULL]), kept


def nearest(word: str, among: Sequence[str]) -> Optional[str]:
    """The word that was probably meant; None: none is similar."""
    array, _kept = words(among)
    found = library().tyto_nearest(ffi.new("char[]", str(word).encode("utf-8", "replace")), array, len(among))
    return None if found == ffi.NULL else text(found)


def whole(number: Any, end: int) -> Optional[int]:
    """A number from 0 to `end` - 1, of any integer type (NumPy's too); None: not such a number."""
    try:
        value = operator.index(number)
    except TypeError:
        return None
    return value if 0 <= value < end else None


def encode(word: str) -> bytes:
    encoded = str(word).encode("utf-8")
    if b"\0" in encoded:
        raise TytoError(f"{word!r}: a text cannot hold a zero byte", "bad option")
    return encoded


def set_words(values: Optional[Mapping[str, object]]) -> List[str]:
    """The changed values of a machine as key=value; True and False become yes and no."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TytoError(f"set: a mapping such as {{'l1d.size': '32KiB'}}, not {values!r}", "bad option")
    plain: Dict[object, str] = {True: "yes", False: "no"}
    return [f"{key}={plain[value] if isinstance(value, bool) else value}" for key, value in values.items()]


def options(machine: Optional[str], scheduler: Optional[str], cta_scheduler: Optional[str],
            changed: Optional[Mapping[str, object]], more: Sequence[str]) -> List[str]:
    """The words of a command line."""
    out: List[str] = []
    for name, value in (("--machine", machine), ("--scheduler", scheduler), ("--cta-scheduler", cta_scheduler)):
        if value is not None:
            out += [name, str(value)]
    for word in set_words(changed):
        out += ["--set", word]
    if isinstance(more, str):
        raise TytoError(f"options: a list of words, not the text {more!r}", "bad option")
    return out + [str(word) for word in more]
