"""Warp schedulers written in Python, for experiments. They are slow, because every pick calls Python."""
import functools
import operator
import pathlib
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

from ._errors import TytoError
from ._library import ffi, library, library_folder, whole

MOST_POLICIES = 64
EVENTS = ("cta_launched", "cta_finished", "warp_finished", "warp_at_barrier", "barrier_released", "last_cta",
          "l1d_hit", "l1d_miss", "l1d_evicted", "l1d_stored", "l1d_filled", "branch", "prefetch_sent", "prefetch_used",
          "prefetch_unused", "prefetch_dropped")
INSERTIONS = ("normal", "first", "last", "bypass")
NO_NUMBER = 0xFFFFFFFF


def warps(of: int) -> Iterator[int]:
    """The warp slots of a set: warps(0b101) are 0 and 2."""
    of = operator.index(of)
    while of:
        lowest = of & -of
        yield lowest.bit_length() - 1
        of ^= lowest


class Issue(NamedTuple):
    """An instruction that was issued."""

    warp: int
    scheduler: int
    lanes: int
    is_load: bool
    is_long: bool
    pc: int


class Miss(NamedTuple):
    """An access whose line is neither in the L1D nor on its way."""

    warp: int
    address: int
    pc: int
    lanes: int


class Event(NamedTuple):
    """An event on the SM; fields that do not apply are -1."""

    kind: str
    warp: int
    cta_slot: int
    owner: int
    is_pending: bool
    warps: int
    address: int
    pc: int
    owner_pc: int
    place: int
    target: int
    lanes_before: int
    lanes_after: int
    is_divergent: bool
    tag: int


def _number(value: int) -> int:
    """A pc or place; -1: there is none."""
    return -1 if value == NO_NUMBER else int(value)


class Row:
    """A warp or a thread block of a view; it can be read only while the view can."""

    __slots__ = ("_sm", "_array", "_i")

    def __init__(self, sm: "SmView", array: str, i: int) -> None:
        self._sm = sm
        self._array = array
        self._i = i

    def __getattr__(self, name: str) -> Any:
        view = self._sm._view or self._sm._now()
        start, step, kind = ((view.warps_at, view.warp_bytes, "TytoWarpView *") if self._array == "warp" else
                             (view.ctas_at, view.cta_bytes, "TytoCtaView *"))
        return getattr(ffi.cast(kind, ffi.cast("char *", view) + start + self._i * step), name)


class SmView:
    """The state of an SM that its scheduler may read during its calls. Sets of warps are integers, with bit w for slot w.

    Its attributes are the fields of TytoSmView (tyto/policy.h): cycle, sm, resident, at_barrier,
    waits_memory, wants_load, ctas, and so on; warp[w] and cta[c] have further fields.
    """

    def __init__(self) -> None:
        self._view: Any = None  # None: no call is under way, so the library's memory must not be read
        self.warp = tuple(Row(self, "warp", i) for i in range(64))
        self.cta = tuple(Row(self, "cta", i) for i in range(32))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._view or self._now(), name)
        return tuple(value) if isinstance(value, ffi.CData) else value

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("the view of an SM cannot be copied: it belongs to the library")

    def _now(self) -> Any:
        view = self._view
        if view is None:
            raise TytoError("the view of an SM is valid only during the call that gets it: keep the values instead of the view")
        return view

    def oldest(self, of: int) -> int:
        """The oldest warp of a set that is not empty."""
        self._now()
        return min(warps(of), key=lambda warp: int(self.warp[warp].age))

    def prefetch(self, address: int, tag: int = 0) -> bool:
        """Requests a prefetch of a line into the L1D; False: too many wait to be sent. Events report its progress."""
        view = self._now()
        return bool(view.prefetch(view.unit, operator.index(address), operator.index(tag)))

    def next(self, of: int, after: int) -> int:
        """Round-robin: the first slot of a non-empty set after slot `after` (-1 to 63)."""
        first = operator.index(after) + 1
        behind = operator.index(of) >> first << first
        return next(warps(behind or of))


class Scheduler:
    """A warp scheduler. Each SM has its own object, and each kernel starts with new objects.

    Subclass it, define `pick`, and pass the class where a scheduler is needed:
    tyto.Simulator(scheduler=Mine). `events` lists the events that it wants to receive, from
    tyto.Scheduler.EVENTS.
    """

    EVENTS = EVENTS
    events: Tuple[str, ...] = ()

    def start(self, sm: SmView) -> None:
        """Called when a kernel starts."""

    def pick(self, sm: SmView, scheduler: int, ready: int) -> Optional[int]:
        """Chooses a warp of `ready`, a non-empty set; None lets none issue.

        It may be called twice in a cycle, so changes of state belong to `issued`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method pick")

    def issued(self, sm: SmView, issue: Issue) -> None:
        """Called when an instruction was issued."""

    def event(self, sm: SmView, event: Event) -> None:
        """Called for each of the `events`."""

    def insert(self, sm: SmView, miss: Miss) -> str:
        """The treatment of the line of a load's miss: normal, first (replaced first), last, or bypass (allocates no line)."""
        return "normal"


Factory = Union[Type[Scheduler], Callable[[], Scheduler]]


class Policy:
    """A scheduler class at the bridge, for the life of a simulator."""

    def __init__(self, factory: Factory) -> None:
        self.factory = factory
        self.objects: Dict[int, Any] = {}
        self.views: Dict[int, SmView] = {}
        self.error: Optional[BaseException] = None
        self.interrupt: Callable[[], None] = lambda: None
        self.asking: Tuple["Policy", ...] = (self,)
        bridge = _bridge()
        free = [i for i in range(MOST_POLICIES) if i not in _policies]
        if not free:
            raise TytoError(f"at most {MOST_POLICIES} simulators with schedulers in Python can exist at once", "bad option")
        self.number = free[0]
        bridge.events[self.number] = self._wanted()
        bridge.inserts[self.number] = getattr(factory, "insert", None) is not Scheduler.insert
        _policies[self.number] = self

    def _wanted(self) -> int:
        wanted = tuple(getattr(self.factory, "events", EVENTS))
        for name in wanted:
            if name not in EVENTS:
                raise TytoError(f"scheduler: there is no event {name!r}, only {', '.join(EVENTS)}", "bad option")
        return sum(1 << EVENTS.index(name) for name in set(wanted))

    @property
    def name(self) -> str:
        return f"{bridge_path()}:policy={self.number}"

    def close(self) -> None:
        _policies.pop(self.number, None)

    def failed(self, error: BaseException) -> None:
        """Ends the launch after an exception in Python; the launch then raises the exception."""
        if self.error is None:
            self.error = error
        self.interrupt()


    def ask(self, view: Any, what: Callable[[Scheduler, SmView], Any]) -> Any:
        """Calls the object of an SM; its view is valid only during the call."""
        i = view.sm
        sm, before = self.views[i], getattr(_thread, "asking", ())
        _thread.asking = self.asking
        sm._view = view
        try:
            return what(self.objects[i], sm)
        except BaseException as error:
            self.failed(error)
            return None
        finally:
            sm._view = None
            _thread.asking = before


def asking() -> Tuple[Policy, ...]:
    """The policies whose functions run in this thread, including those of outer launches."""
    return getattr(_thread, "asking", ())


_policies: Dict[int, Policy] = {}
_callbacks: List[Any] = []
_thread = threading.local()


@functools.lru_cache(maxsize=None)
def bridge_path() -> pathlib.Path:
    """The path of Tyto's plug-in that calls Python."""
    library()
    folder = library_folder()
    for place in (folder / "tyto", folder / "python"):
        if (place / "policy-bridge.so").is_file():
            return place / "policy-bridge.so"
    raise TytoError(f"policy-bridge.so is not next to {folder}/libtyto.so.0; is the installation complete?", "library")


@functools.lru_cache(maxsize=None)
def _bridge() -> Any:
    """The bridge with Python's functions. They never raise exceptions, but store them."""
    opened = ffi.dlopen(str(bridge_path()))
    bridge = opened.tyto_bridge
    _callbacks.append(opened)

    def start(number: int, view: Any) -> None:
        policy = _policies[number]

        def begin(_: Any, sm: SmView) -> None:
            policy.objects[view.sm] = made = policy.factory()
            made.start(sm)

        policy.objects[view.sm] = None
        policy.views[view.sm] = SmView()
        policy.ask(view, begin)

    def pick(number: int, view: Any, scheduler: int, ready: int) -> int:
        policy = _policies[number]
        if policy.error is not None:
            return -1

        def choose(made: Scheduler, sm: SmView) -> Optional[int]:
            chosen = made.pick(sm, scheduler, ready)
            if chosen is None:
                return None
            warp = whole(chosen, 64)
            if warp is None or not ready >> warp & 1:
                raise TytoError(f"scheduler: pick chose {chosen!r}, which is not one of the ready warps "
                                f"{list(warps(ready))} (cycle {view.cycle}, SM {view.sm})", "bad option")
            return warp

        warp = policy.ask(view, choose)
        return -1 if warp is None else int(warp)

    def issued(number: int, view: Any, issue: Any) -> None:
        policy = _policies[number]
        if policy.error is None:
            told = Issue(issue.warp, issue.scheduler, issue.lanes, issue.is_load, issue.is_long, issue.pc)
            policy.ask(view, lambda made, sm: made.issued(sm, told))

    def event(number: int, view: Any, happened: Any) -> None:
        policy = _policies[number]
        if policy.error is None:
            told = Event(EVENTS[happened.kind], happened.warp, happened.cta_slot, happened.owner, happened.is_pending,
                         happened.warps, happened.address, _number(happened.pc), _number(happened.owner_pc),
                         _number(happened.place), happened.target, happened.lanes_before, happened.lanes_after,
                         happened.is_divergent, happened.tag)
            policy.ask(view, lambda made, sm: made.event(sm, told))

    def insert(number: int, view: Any, miss: Any) -> int:
        policy = _policies[number]
        if policy.error is not None:
            return 0

        def choose(made: Scheduler, sm: SmView) -> int:
            chosen = made.insert(sm, Miss(miss.warp, miss.address, _number(miss.pc), miss.lanes))
            if chosen not in INSERTIONS:
                raise TytoError(f"scheduler: insert chose {chosen!r}, which is not one of {', '.join(INSERTIONS)}", "bad option")
            return INSERTIONS.index(chosen)

        return int(policy.ask(view, choose) or 0)

    functions = (("start", start, None), ("pick", pick, -1), ("issued", issued, None), ("event", event, None),
                 ("insert", insert, 0))
    for name, function, otherwise in functions:
        made = ffi.callback(ffi.typeof(getattr(bridge, name)), function, error=otherwise,
                            onerror=lambda *_: print("tyto: a scheduler in Python failed", file=sys.stderr))
        _callbacks.append(made)
        setattr(bridge, name, made)
    return bridge
