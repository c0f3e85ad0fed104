"""Computes how often blocks of machine code run, from the execution counts of the PTX instructions they were made from.

The count of a block comes from its anchors: memory accesses, barriers and votes. ptxas makes one of each for a PTX
instruction and does not move it out of its block. An anchor that is in one block gives the count of that block. ptxas
can copy an anchor into several blocks (an unrolled loop and its rest, a peeled iteration). Then the known counts are
subtracted, and the unknown blocks get the rest. If no block is known, the count is divided as in a loop that is
unrolled by its number of copies. A block that ends with a branch of the PTX runs as often as that branch. A block at
which lanes meet runs as often as the block that announced the meeting (BSSY). Other blocks run as often as most of
their instructions. Slow paths of divisions and roots are assumed not to run: blocks that call a routine of ptxas, and
the routines. If there is no other path (divisions of 16 and 64 bits, directed rounding), the routine is counted with
its calls if it has no branches. If it has branches, the counts of the kernel are unknown.
"""
import collections
import re

import sass

ANCHOR = re.compile(r"(ld(?!\.param|\.const)|ldu|st(?!\.param)|atom|red|bar|barrier|vote|shfl|match|activemask|membar"
                    r"|fence|tex|tld4|suld|sust)\b")


ALWAYS_CALLS = re.compile(r"(div|rem)\.[us](16|64)|div\.r[zmp]\.|(rcp|sqrt)\.r[zmp]\.f64")


class Ptx:
    """The instructions, blocks and loops of a module's functions, by line."""

    def __init__(self, text: str):
        self.functions: dict[str, tuple[list, dict]] = {}  # (line, guard, opcode, operands), label to index
        self.place: dict[int, tuple[str, int]] = {}  # line to function and index
        self.known: dict[str, tuple] = {}
        name, depth, code, labels = None, 0, None, {}
        for number, line in enumerate(text.split("\n"), 1):
            part = line.split("//")[0].strip()
            found = re.search(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", part)
            if found and depth == 0:
                name = found[2]
            before = depth
            depth += part.count("{") - part.count("}")
            if before == 0 and depth > 0 and name:
                code, labels = [], {}
                self.functions[name] = (code, labels)
            if before > 0 and depth == 0:
                name = code = None
            if code is None:
                continue
            if found := re.match(r"([\w$]+):", part):
                labels[found[1]] = len(code)
                part = part[found.end():].strip()
            found = re.match(r"(?:\{\s*)?(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)(.*)", part)
            if found and not part.startswith("."):
                code.append((number, found[2], found[3], found[4]))
                self.place[number] = (name, len(code) - 1)

    def blocks(self, name: str) -> tuple[list, dict, list]:
        """Ranges of instructions, the block of each, and its successors."""
        code, labels = self.functions[name]
        ends = ("bra", "ret", "exit", "brx", "trap")
        starts = {0} | set(labels.values()) | {i + 1 for i, each in enumerate(code) if each[2].startswith(ends)}
        ordered = sorted(start for start in starts if start < len(code))
        ranges = list(zip(ordered, ordered[1:] + [len(code)]))
        block_of = {i: b for b, (first, end) in enumerate(ranges) for i in range(first, end)}
        successors: list[list[int]] = []
        for b, (_, end) in enumerate(ranges):
            _, guard, opcode, operands = code[end - 1]
            after = [b + 1] if b + 1 < len(ranges) else []
            if opcode.startswith("bra"):
                to = labels.get(operands.strip(" \t;").split()[-1])
                successors.append(([block_of[to]] if to in block_of else []) + (after if guard else []))
            elif opcode.startswith("brx"):
                successors.append([block_of[to] for to in labels.values() if to in block_of])
            elif opcode.startswith(("ret", "exit", "trap")):
                successors.append(after if guard else [])
            else:
                successors.append(after)
        return ranges, block_of, successors

    def iterations(self, line: int, runs: dict[int, int]) -> tuple[float, float] | None:
        """How often the innermost loop around a line was entered, and its mean iterations; None: not in a loop."""
        name, index = self.place[line]
        if name not in self.known:
            ranges, block_of, successors = self.blocks(name)
            code = self.functions[name][0]
            counts = [max(runs.get(code[i][0], 0) for i in range(*each)) for each in ranges]
            self.known[name] = (block_of, successors, counts, *loops_of(successors))
        block_of, successors, counts, loops, before = self.known[name]
        around = [head for head, body in loops.items() if block_of[index] in body]
        if not around:
            return None
        head = min(around, key=lambda each: len(loops[each]))
        entries = sum(counts[b] if len(successors[b]) == 1 else min(counts[b], counts[head])
                      for b in before[head] if b not in loops[head])
        return max(entries, 1), runs.get(line, 0) / max(entries, 1)


def loops_of(successors: list[list[int]]) -> tuple[dict[int, set[int]], list[list[int]]]:
    """Natural loops by their head, and predecessors."""
    count = len(successors)
    before: list[list[int]] = [[] for _ in range(count)]
    for b, after in enumerate(successors):
        for to in after:
            before[to].append(b)
    dominators = [{0}] + [set(range(count)) for _ in range(count - 1)]
    changed = True
    while changed:
        changed = False
        for b in range(1, count):
            sets = [dominators[p] for p in before[b]]
            now = (set.intersection(*sets) if sets else set()) | {b}
            changed |= now != dominators[b]
            dominators[b] = now
    loops: dict[int, set[int]] = {}
    for b, after in enumerate(successors):
        for head in after:
            if head in dominators[b]:
                body, left = loops.setdefault(head, {head}), [b]
                while left:
                    at = left.pop()
                    if at not in body:
                        body.add(at)
                        left += before[at]
    return loops, before


class Executions:
    """Executions of the blocks of one kernel; `runs`: PTX line to how often it issued."""

    def __init__(self, kernel: sass.Kernel, ptx: Ptx, runs: dict[int, int]):
        self.ptx, self.runs, self.is_known = ptx, runs, True
        self.called: list[tuple[int, int]] = []  # block that calls a routine on its only path, and the routine's size
        self.blocks = sass.blocks_of(kernel)
        self.count: list[float | None] = [None] * len(self.blocks)
        self.anchors, self.branches = self.find_lines()
        self.where = collections.defaultdict(list)  # line: blocks that have it as an anchor, or end with it
        for source in (self.anchors, self.branches):
            for b, lines in enumerate(source):
                for line in lines:
                    if b not in self.where[line]:
                        self.where[line].append(b)
        self.leave_out_routines(kernel)
        self.use_anchors()
        self.use_flow()

    def find_lines(self) -> tuple[list, list]:
        anchors, branches = [], []
        for block in self.blocks:
            found, ending = collections.Counter(), collections.Counter()
            for each in block:
                if each.line not in self.ptx.place:
                    continue
                name, index = self.ptx.place[each.line]
                _, guard, opcode, _ = self.ptx.functions[name][0][index]
                if each.opcode in sass.ANCHORS and ANCHOR.match(opcode) and (guard or not each.is_guarded):
                    found[each.line] += 1
                if each is block[-1] and each.opcode == sass.BRA and each.is_guarded and opcode.startswith("bra"):
                    ending[each.line] += 1
            anchors.append(found)
            branches.append(ending)
        return anchors, branches

    def leave_out_routines(self, kernel: sass.Kernel) -> None:
        def part_at(at: int) -> str:
            return max((part for part in kernel.parts if part[0] <= at), default=(0, ""))[1]

        for b, block in enumerate(self.blocks):
            if "__internal" in part_at(block[0].at):
                self.count[b] = 0
            for each in block:
                if each.opcode not in sass.CALLS or "__internal" not in part_at(each.target):
                    continue
                name, index = self.ptx.place.get(each.line, ("", 0))
                if not name or not ALWAYS_CALLS.match(self.ptx.functions[name][0][index][2]):
                    self.count[b] = 0
                    continue
                routine = [one for one in kernel.code if part_at(one.at) == part_at(each.target) and one.opcode != sass.NOP]
                self.is_known &= not any(one.opcode == sass.BRA for one in routine)
                self.called.append((b, len(routine)))

    def copies(self, b: int, line: int) -> int:
        return self.anchors[b][line] or self.branches[b][line]

    def shared_out(self, b: int, line: int) -> float:
        """Executions of a block, from a line with anchors in several blocks."""
        runs, blocks = self.runs.get(line, 0), self.where[line]
        loop = self.ptx.iterations(line, self.runs) if runs else None
        if len(blocks) == 1 or not loop:
            return runs / sum(self.copies(each, line) for each in blocks)
        entries, mean = loop

        def of_iterations(left: int) -> float:
            for copies in sorted({self.copies(each, line) for each in blocks}, reverse=True):
                alike = [each for each in blocks if self.copies(each, line) == copies]
                times = left // copies
                left -= times * copies
                if b in alike:
                    return times / len(alike)
            return 0

        part = mean - int(mean)
        return entries * (of_iterations(int(mean)) * (1 - part) + of_iterations(int(mean) + 1) * part)

    def set_median(self, b: int, values: list[float]) -> None:
        if values and self.count[b] is None:
            self.count[b] = sorted(values)[len(values) // 2]

    def use_anchors(self) -> None:
        for b, lines in enumerate(self.anchors):
            self.set_median(b, [self.runs.get(line, 0) / lines[line] for line in lines if len(self.where[line]) == 1])
        for _ in range(4):
            for b, lines in enumerate(self.anchors):
                left = []
                for line in lines:
                    others = [each for each in self.where[line] if each != b]
                    if all(self.count[each] is not None for each in others):
                        known = sum(self.count[each] * self.copies(each, line) for each in others)
                        left.append(max(0, self.runs.get(line, 0) - known) / lines[line])
                self.set_median(b, left)
        for source in (self.anchors, self.branches):
            for b, lines in enumerate(source):
                self.set_median(b, [self.shared_out(b, line) for line in lines])

    def predecessors(self) -> list[list[int]]:
        at = {block[0].at: b for b, block in enumerate(self.blocks)}
        found: list[list[int]] = [[] for _ in self.blocks]
        for b, block in enumerate(self.blocks):
            last = block[-1]
            if last.opcode == sass.BRA and last.target in at:
                found[at[last.target]].append(b)
            falls = last.is_guarded or last.opcode not in (sass.BRA, sass.EXIT, sass.RET)
            if falls and b + 1 < len(self.blocks):
                found[b + 1].append(b)
        return found

    def meetings(self) -> dict[int, int]:
        """{block that begins with a BSYNC: block with its BSSY}; the BSSY names the instruction after the BSYNC."""
        first = {block[0].at + sass.BYTES: b for b, block in enumerate(self.blocks) if block[0].opcode == sass.BSYNC}
        return {first[each.target]: b for b, block in reversed(list(enumerate(self.blocks)))
                for each in block if each.opcode == sass.BSSY and each.target in first}

    def use_flow(self) -> None:
        before, meetings, guessed = self.predecessors(), self.meetings(), set()
        for _ in range(6):
            for b in range(len(self.blocks)):
                alone = len(before[b]) == 1 and not self.blocks[before[b][0]][-1].is_guarded
                source = meetings.get(b, before[b][0] if alone else None)
                if self.count[b] is None and source is not None:
                    self.count[b] = self.count[source]
        for b, block in enumerate(self.blocks):
            if self.count[b] is None:
                values = [self.runs.get(each.line, 0) for each in block if each.line in self.ptx.place]
                self.count[b] = collections.Counter(values).most_common(1)[0][0] if values else 0
                guessed.add(b)
        for _ in range(4):
            for b in guessed:
                if before[b]:
                    self.count[b] = min(self.count[b], sum(self.count[each] for each in before[b]))

    def total(self) -> float:
        own = sum(count * sum(each.opcode != sass.NOP for each in block) for count, block in zip(self.count, self.blocks))
        return own + sum(self.count[b] * size for b, size in self.called)
