"""Shared by the tests of machine code: sass_dump, the text of instructions independent of their layout, and the
instructions of cubins."""
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

SKIPPED = 77  # exit status
BYTES = 16  # of an instruction

Line = collections.namedtuple("Line", "control text unknown is_known")


def dump(program, sm, codes):
    """Lines of sass_dump for (offset, code) pairs of hexadecimal text."""
    done = subprocess.run([program, str(sm)], input="".join(f"{at} {code}\n" for at, code in codes), text=True,
                          capture_output=True, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [Line(control, text, int(unknown, 16), known == "1") for control, text, unknown, known in lines]


def canonical(text):
    """The text with spaces only between words, and with numbers in Python's notation."""
    text = re.sub(r"\s+", " ", text.strip(" ;\n"))
    text = re.sub(r"(?<=[\w?]) (?![\w?])|(?<![\w?]) (?=[\w?])|(?<![\w?]) (?![\w?])", "", text)
    return re.sub(r"(?<![\w.\[])-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?![\w.])",
                  lambda match: repr(float(match[0])) if re.search(r"[.e]", match[0]) else match[0], text)


def mnemonic(text):
    return re.sub(r"^@\S+ ", "", text).split(" ")[0].split(".")[0].rstrip(";")


def texts_of(elf):
    """(name, code) of each .text section."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    count, names = struct.unpack_from("<HH", elf, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        name = elf[at:elf.index(b"\0", at)].decode()
        if name.startswith(".text."):
            yield name[len(".text."):], elf[header[4]:header[4] + header[5]]


def codes_of(text):
    """(offset, code) pairs of a section."""
    return [(f"{at:x}", f"{int.from_bytes(text[at:at + BYTES], 'little'):032x}") for at in range(0, len(text), BYTES)]


def has_assembler():
    return shutil.which("ptxas") is not None


def assemble(ptx, sm, *options):
    """The cubin; None if ptxas rejects the PTX."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "kernel.ptx"), pathlib.Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        done = subprocess.run(["ptxas", f"-arch=sm_{sm}", *options, str(source), "-o", str(cubin)], capture_output=True,
                              check=False)
        return None if done.returncode else cubin.read_bytes()
