"""The library's machines and counters."""
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional

from ._errors import TytoError
from ._library import MESSAGE_BYTES, encode, ffi, library, set_words, take, text, words
from ._needs import need

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Value:
    """A value of a machine: its text in the file, its meaning, and its origin."""

    text: str
    meaning: str
    origin: str


class Machine(Mapping[str, Value]):
    """A machine with every value, by key: machine("owl")["l1d.size"].text is "32 KiB"."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.values_by_key = dict(_values(file))
        self.name = self.values_by_key["name"].text.strip('"')
        self.title = self.values_by_key["title"].text.strip('"')

    def __getitem__(self, key: str) -> Value:
        if key not in self.values_by_key:
            raise KeyError(f"{key}: the machine has no such key; docs/machine-parameters.md lists them")
        return self.values_by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_key)

    def __len__(self) -> int:
        return len(self.values_by_key)

    def __repr__(self) -> str:
        return f"<tyto.Machine {self.name}: {self.title}>"

    def frame(self) -> "pandas.DataFrame":
        """A row for each value."""
        return _frame({key: vars(value) for key, value in self.items()})


def _frame(rows: Dict[str, Any]) -> "pandas.DataFrame":
    need("pandas", "a frame")
    import pandas

    return pandas.DataFrame.from_dict(rows, orient="index")


def _values(file: str) -> Iterator["tuple[str, Value]"]:
    path: List[str] = []
    for line in file.splitlines():
        match = re.match(r"( *)(\w+):(?: (.*?))?(?: +# (.*))?$", line)
        if not match:
            continue
        depth = len(match[1]) // 2
        path = path[:depth] + [match[2]]
        if match[3]:
            meaning, _, origin = (match[4] or "").rpartition("; ")
            yield ".".join(path), Value(match[3].strip(), meaning, origin)


def machine(name: str, set: Optional[Mapping[str, object]] = None) -> Machine:
    """A machine that comes with Tyto or is read from a file; `set` changes its values."""
    array, _kept = words(set_words(set))
    message = ffi.new("char[]", MESSAGE_BYTES)
    count = len(_kept)
    file = library().tyto_machine_text(encode(name), count, array, message, MESSAGE_BYTES)
    if file == ffi.NULL:
        raise TytoError(text(message).strip().replace("error: ", "", 1), "bad option")
    return Machine(take(file))


def machines() -> Dict[str, str]:
    """The machines that come with Tyto: name and title."""
    lib = library()
    return {text(lib.tyto_machine_name(i)): take(lib.tyto_machine_title(i)) for i in range(lib.tyto_machine_count())}


@dataclass(frozen=True)
class Counter:
    """A counter or a ratio of runs."""

    name: str
    unit: str
    meaning: str
    kind: str  # "sum", "max" or "ratio"


def counters() -> Dict[str, Counter]:
    """All counters and ratios, by name."""
    lib = library()
    rows = (lib.tyto_counter(i) for i in range(lib.tyto_counter_count()))
    all_rows = (Counter(text(row.name), text(row.unit), text(row.meaning), ("sum", "max", "ratio")[row.kind])
                for row in rows)
    return {row.name: row for row in all_rows}
