"""Reads machine code from ptxas: the kernels of a cubin, their instructions, and the PTX line of each.

A cubin is an ELF file with a section .text.KERNEL for each kernel; routines and functions that it calls are in the same
section, each with a symbol. With -lineinfo there is a DWARF line table, and mark() gives every PTX instruction its own
.loc. So the table has the PTX line of each machine instruction. The parts of an instruction that are read are the
opcode (its lowest 12 bits), the guard (bits 12 to 15) and the target of a branch, in the 128-bit encoding of NVIDIA
GPUs since Volta (turingas, D. Yan et al., PPoPP 2020). NOPs and the branch to itself at the end of a section, which
only fill it, are left out.
"""
import pathlib
import re
import struct
import subprocess
import tempfile
from dataclasses import dataclass

BYTES = 16  # of an instruction
NOP, BRA, EXIT, RET, BSSY, BSYNC = 0x918, 0x947, 0x94D, 0x950, 0x945, 0x941
CALLS = {0x943, 0x944}
ALWAYS = 7  # the guard that is always true
# Opcodes of memory accesses, barriers, votes and shuffles, found by compiling kernels of one such instruction. ptxas
# makes one of them for each PTX instruction, so they show how often a block runs.
ANCHORS = {0x381, 0x386, 0x984, 0x388, 0x980, 0x385, 0x983, 0x387, 0x3A8, 0x3A9, 0x38C, 0x38D, 0x98E, 0x981, 0x986,
           0x389, 0xF89, 0x589, 0x989, 0x806, 0xB1D, 0x38A, 0x38B, 0x98A, 0x98B, 0x3AA, 0x988, 0x987, 0x98D, 0x98C,
           0x9A8, 0x9A9, 0x985}


@dataclass
class Instruction:
    at: int  # byte in its section
    opcode: int
    line: int  # of the PTX; 0: none
    target: int | None  # of a branch, a call, a BSSY: byte in the section
    is_guarded: bool


@dataclass
class Kernel:
    name: str
    code: list  # Instruction
    parts: list  # (first byte, symbol) of the kernel and of what follows it


def mark(ptx: str) -> str:
    """The PTX with a .loc of its own line before each instruction."""
    out, depth, skipping = [], 0, 0
    for number, line in enumerate(ptx.split("\n"), 1):
        text = line.split("//")[0].strip()
        if re.match(r"\.section\b", text):
            skipping = 1
        if skipping:
            skipping = 2 if "{" in text else skipping
            skipping = 0 if "}" in text else skipping
            continue
        if re.match(r"\.(loc|file)\b", text):
            continue
        depth += text.count("{") - text.count("}")
        if depth > 0 and re.match(r"(\{\s*)?(@!?[%\w$]+\s+)?[a-z][\w.:]*(\s|;)", text) and not text.endswith(":"):
            out.append(f".loc 1 {number} 1")
        out.append(line)
        if text.startswith(".address_size"):
            out.append('.file 1 "kernel.ptx"')
    return "\n".join(out)


def assemble(ptx: str, architecture: str) -> tuple[bytes | None, str]:
    """The cubin, None if ptxas rejects the PTX; and the output of ptxas."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "kernel.ptx"), pathlib.Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        done = subprocess.run(["ptxas", f"-arch={architecture}", "-lineinfo", "-v", str(source), "-o", str(cubin)],
                              capture_output=True, text=True)
        return (None if done.returncode else cubin.read_bytes()), done.stdout + done.stderr


def registers(log: str) -> dict[str, int]:
    """Registers per thread of each kernel, from the output of ptxas."""
    found, kernel = {}, None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = match[1]
        if (match := re.search(r"Used (\d+) registers", line)) and kernel:
            found[kernel] = int(match[1])
            kernel = None
    return found


# ---- ELF and DWARF ----


def sections_of(elf: bytes) -> list[tuple[str, tuple]]:
    start, = struct.unpack_from("<Q", elf, 0x28)
    count, names = struct.unpack_from("<HH", elf, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i) for i in range(count)]

    def text_at(offset: int) -> str:
        first = headers[names][4] + offset
        return elf[first:elf.index(b"\0", first)].decode()

    return [(text_at(header[0]), header) for header in headers]


def leb128(data: bytes, at: int, is_signed: bool) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (value - (1 << shift) if is_signed and byte & 64 else value), at


def line_rows(data: bytes) -> list[tuple[int | None, list[tuple[int, int]], int]]:
    """Sequences of a .debug_line section: the offset of their address in it, (address, line) rows, and their end."""
    found, unit = [], 0
    while unit < len(data):
        length, version, header = struct.unpack_from("<IHI", data, unit)
        end, at = unit + 4 + length, unit + 10
        step = data[at]
        at += 2 if version >= 4 else 1
        _, base, span, first_special = struct.unpack_from("<BbBB", data, at)
        lengths = data[at + 4:at + 3 + first_special]
        at = unit + 10 + header
        address, line, rows, place = 0, 1, [], None
        while at < end:
            code = data[at]
            at += 1
            if code >= first_special:
                address += (code - first_special) // span * step
                line += base + (code - first_special) % span
                rows.append((address, line))
            elif code == 0:
                size, at = leb128(data, at, False)
                if data[at] == 1:
                    found.append((place, rows, address))
                    address, line, rows, place = 0, 1, [], None
                elif data[at] == 2:
                    place = at + 1
                    address, = struct.unpack_from("<Q", data, at + 1)
                at += size
            elif code == 1:
                rows.append((address, line))
            elif code == 2:
                move, at = leb128(data, at, False)
                address += move * step
            elif code == 3:
                move, at = leb128(data, at, True)
                line += move
            elif code == 8:
                address += (255 - first_special) // span * step
            elif code == 9:
                address += struct.unpack_from("<H", data, at)[0]
                at += 2
            else:
                for _ in range(lengths[code - 1]):
                    _, at = leb128(data, at, False)
        unit = end
    return found


def lines_by_section(elf: bytes, by_name: dict, symbols: list) -> dict[int, dict[int, int]]:
    """{byte: PTX line} of each section of code."""
    if ".debug_line" not in by_name:
        return {}
    part = {name: elf[header[4]:header[4] + header[5]] for name, header in by_name.items() if "debug_line" in name}
    moved = {}
    for at in range(0, len(part.get(".rel.debug_line", b"")), 16):
        place, info = struct.unpack_from("<QQ", part[".rel.debug_line"], at)
        moved[place] = symbols[info >> 32]
    found: dict[int, dict[int, int]] = {}
    for place, rows, end in line_rows(part[".debug_line"]):
        symbol = moved.get(place)
        if not symbol:
            continue
        base = symbol[3] if symbol[1] != 3 else 0
        lines = found.setdefault(symbol[2], {})
        for (first, line), (after, _) in zip(rows, rows[1:] + [(end, 0)]):
            lines.update({at + base: line for at in range(first, after, BYTES)})
    return found


def decode(low: int, high: int, at: int, line: int) -> Instruction:
    opcode, guard = low & 0xFFF, low >> 12 & 15
    target = None
    if opcode in {BRA, BSSY} | CALLS:
        distance = low >> 32 | (high & 0x3FFFF) << 32
        target = at + BYTES + (distance - (1 << 50) if distance >> 49 else distance)
    is_guarded = guard != ALWAYS or (opcode == BRA and high >> 23 & 15 != ALWAYS)
    return Instruction(at, opcode, line, target, is_guarded)


def read(elf: bytes) -> list[Kernel]:
    """The kernels of a cubin."""
    every = sections_of(elf)
    by_name = dict(every)
    table, names = (elf[by_name[n][4]:by_name[n][4] + by_name[n][5]] for n in (".symtab", ".strtab"))
    symbols = []
    for at in range(0, len(table), 24):
        name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", table, at)
        symbols.append((names[name:names.index(b"\0", name)].decode(), info & 15, section, value))
    lines = lines_by_section(elf, by_name, symbols)
    kernels = []
    for number, (name, header) in enumerate(every):
        if not name.startswith(".text."):
            continue
        known = lines.get(number, {})
        code = [decode(*struct.unpack_from("<QQ", elf, header[4] + at), at, known.get(at, 0))
                for at in range(0, header[5], BYTES)]
        while code and code[-1].opcode == NOP:
            code.pop()
        if code and code[-1].opcode == BRA and code[-1].target == code[-1].at:
            code.pop()
        parts = {(s[3], s[0]) for s in symbols if s[2] == number and (s[1] == 2 or s[0].startswith("$"))}
        kernels.append(Kernel(name[6:], code, sorted(parts)))
    return kernels


# ---- Blocks ----


def blocks_of(kernel: Kernel) -> list[list[Instruction]]:
    starts = {0} | {first for first, _ in kernel.parts}
    for each in kernel.code:
        if each.opcode in (BRA, BSSY) and each.target is not None:
            starts.add(each.target)
        if each.opcode in (BRA, EXIT, RET):
            starts.add(each.at + BYTES)
    end = len(kernel.code) * BYTES
    ordered = sorted(start for start in starts if 0 <= start < end)
    blocks = [kernel.code[a // BYTES:b // BYTES] for a, b in zip(ordered, ordered[1:] + [end])]
    return [block for block in blocks if block]
