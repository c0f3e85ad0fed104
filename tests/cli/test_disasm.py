#!/usr/bin/env python3
"""tyto disasm: its output for files of every kind, as text and as JSON, and its messages about unsupported files.

usage: test_disasm.py TYTO ROOT MAKE_CUBIN

MAKE_CUBIN writes files with a small handmade program (tests/sass/make_cubin.c). Where ptxas and nvcc are installed, the
test also reads what they make. If TYTO_CUASSEMBLER names a checkout of cloudcores/CuAssembler or its git folder, the test
also reads CuAssembler's cubin with its listing."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TYTO, ROOT, MAKE_CUBIN = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
KINDS = ("cubin", "old", "relocatable", "fatbin", "program")
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90")
INSTRUCTION = re.compile(r"^    \[B[-0-5]{6}:R[-0-5]:W[-0-5]:[-Y]:S(0\d|1[0-5])\] /\*[0-9a-f]{4,}\*/ +(@!?U?P\d )?\S.* ;", re.M)
PTX = """.version 7.8
.target {arch}
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 4 .u32 counter = 3;
.const .align 4 .u32 table[4] = {{1, 2, 3, 4}};
.visible .entry first(.param .u64 p, .param .u32 n) {{
    .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %q; .shared .align 4 .b8 tile[256];
    ld.param.u64 %d0, [p];
    ld.param.u32 %r0, [n];
    mov.u32 %r2, 0;
again:
    cvt.u64.u32 %d1, %r2;
    ld.const.u32 %r3, [table+4];
    atom.global.add.u32 %r4, [counter], %r3;
    st.shared.u32 [tile+8], %r4;
    bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %q, %r2, %r0;
    @%q bra again;
    st.global.u32 [%d0], %r4;
    ret;
}}
.visible .entry second(.param .u64 p) .reqntid 64 {{
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [p];
    st.global.u64 [%d0], %d0;
    ret;
}}
"""


def paths(value, place=""):
    """The paths of the values in a document: "cubins[].functions[].name"."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from paths(inner, place + "[]")
    else:
        yield place


def documented():
    page = (ROOT / "docs" / "machine-code.md").read_text(encoding="utf-8")
    section = page.split("### The JSON document")[1].split("\n## ")[0]
    return set(re.findall(r"(?m)^\| `([^`]+)` \|", section))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tyto(self, *words, **options):
        return subprocess.run([TYTO, "disasm", *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env=PLAIN, check=False, timeout=120, **options)

    def check(self, done, status, *parts):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotRegex(done.stderr, "Sanitizer|runtime error:|Assertion")
        for part in parts:
            self.assertIn(part, done.stderr)

    def listing(self, *words):
        done = self.tyto(*words)
        self.check(done, 0)
        return done.stdout

    def make(self, kind):
        subprocess.run([MAKE_CUBIN, kind, self.folder / kind], check=True)
        return kind


class MadeByHand(Case):
    def test_every_kind_of_file_has_the_program(self):
        for kind in KINDS:
            done = self.tyto(self.make(kind))
            self.check(done, 0, "tyto: 1 of 9 instructions have unknown operations")
            self.assertEqual(len(INSTRUCTION.findall(done.stdout)), 9, done.stdout)
            for part in ("// scale(float*, int)", "32@lo(counter)", "@P0 BRA `(.L_x_0) ;", ".dword 0x0000000000000fff",
                         'line 3 inlined at "/src/a.cu", line 20'):
                self.assertIn(part, done.stdout)

    def test_standard_input(self):
        with open(self.folder / self.make("program"), "rb") as file:
            done = subprocess.run([TYTO, "disasm", "-"], stdin=file, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"_Z5scalePfi:", done.stdout)

    def test_kernel(self):
        self.make("program")
        self.assertEqual(self.listing("program", "scale"), self.listing("program"))
        self.assertEqual(len(INSTRUCTION.findall(self.listing("program", "$_Z5scalePfi$_Z5twicef"))), 2)
        self.check(self.tyto("program", "scales"), 1, "there is no function scales; did you mean 'scale'?")

    def test_arch(self):
        self.make("program")
        for word in ("sm_80", "80"):
            self.assertIn("_Z5scalePfi:", self.listing("--arch", word, "program"))
        self.check(self.tyto("--arch", "sm_90a", "program"), 1,
                   "no machine code for sm_90; there is for sm_80 and PTX for compute_90")
        for word in ("sm_", "gfx90a", "sm_90ab", "", "-1", "sm_9999"):
            self.check(self.tyto("--arch", word, "program"), 2, "not an architecture such as sm_75")

    def test_raw(self):
        listing = self.listing("--raw", self.make("cubin"))
        self.assertEqual(len(re.findall(r"(?m)^ +/\* 0x[0-9a-f]{16} 0x[0-9a-f]{16} \*/$", listing)), 9)
        self.assertIn("/* 0x000000000000794d 0x000fea0003800000 */", listing)

    def test_json_has_the_members_that_the_page_lists(self):
        found = set()
        for kind in KINDS:
            document = json.loads(self.listing("--json", self.make(kind)))
            self.assertEqual(document["schema"], "tyto-disasm-1")
            found |= set(paths(document))
            self.assertEqual((document["instructions"], document["unknown"]), (9, 1))
            function = document["cubins"][0]["functions"][0]
            unknown = [one for one in function["instructions"] if "text" not in one]
            self.assertEqual([one["words"][0] for one in unknown], ["0x0000000000000fff"])
            self.assertEqual(function["instructions"][3]["target"], 0x50)
            self.assertEqual(function["instructions"][3]["lines"][0]["inlined"], "_Z5twicef")
        page = documented()
        self.assertEqual(found - page, set(), "docs/machine-code.md lacks them")
        # fields that this program does not use
        some = {f"cubins[].functions[].{name}" for name in ("required_threads", "cluster", "instructions[].control.write",
                                                           "instructions[].control.read")}
        self.assertEqual(page - found, some)

    def test_files_without_machine_code(self):
        self.check(self.tyto(self.make("ptx")), 1, "no machine code, but PTX for compute_90")
        self.check(self.tyto("/bin/true"), 1, "no machine code of a GPU")
        (self.folder / "text").write_text("// PTX\n.version 8.0\n", encoding="utf-8")
        for name in ("text", "/dev/null"):
            self.check(self.tyto(name), 1, "this is no cubin, fat binary, executable, shared object, object file or archive")

    def test_files_that_cannot_be_read(self):
        self.check(self.tyto("nowhere"), 1, "cannot read nowhere: No such file")
        self.check(self.tyto(self.folder), 1, "Is a directory")
        self.check(self.tyto(), 2, "needs FILE")
        self.check(self.tyto("a", "b", "c"), 2)
        self.check(self.tyto("--kernel", "x", "y"), 2, "has no option --kernel")

    def test_damaged_files(self):
        for kind, part in (("cubin", "the cubin is damaged: "), ("fatbin", "the fat binary is damaged"),
                           ("program", "the ELF file is damaged")):
            path = self.folder / self.make(kind)
            path.write_bytes(path.read_bytes()[:-40])
            self.check(self.tyto(kind), 1, part)

    def test_a_full_disk(self):
        self.make("cubin")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TYTO, "disasm", self.folder / "cubin"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.check(done, 1, "cannot write to standard output")


@unittest.skipUnless(shutil.which("ptxas"), "there is no ptxas")
class MadeByPtxas(Case):
    def assemble(self, architecture, *options):
        (self.folder / "a.ptx").write_text(PTX.format(arch=architecture), encoding="utf-8")
        subprocess.run(["ptxas", "-arch", architecture, *options, "-o", "out", "a.ptx"], cwd=self.folder, check=True, capture_output=True)
        return "out"

    def test_every_instruction_is_known_and_listed_once(self):
        for architecture in ARCHITECTURES:
            for options in ((), ("-c",), ("-O0",)):
                done = self.tyto("--json", self.assemble(architecture, *options))
                self.check(done, 0)
                self.assertEqual(done.stderr, "", (architecture, options))
                cubin = json.loads(done.stdout)["cubins"][0]
                self.assertEqual(cubin["architecture"], architecture)
                self.assertEqual(cubin["relocatable"], "-c" in options)
                self.assertEqual(sorted(one["name"] for one in cubin["functions"]), ["first", "second"])
                for function in cubin["functions"]:
                    offsets = [one["offset"] for one in function["instructions"]]
                    self.assertEqual(offsets, list(range(0, function["size"], 16)))

    def test_what_ptxas_says_of_a_kernel(self):
        for architecture in ARCHITECTURES:
            cubin = json.loads(self.listing("--json", self.assemble(architecture)))["cubins"][0]
            first, second = (next(one for one in cubin["functions"] if one["name"] == name) for name in ("first", "second"))
            self.assertEqual(first["shared_bytes"], 256)
            self.assertEqual(first["barriers"], 1)
            self.assertEqual(first["parameter_offset"], 0x210 if architecture >= "sm_90" else 0x160)
            self.assertEqual(first["parameter_bytes"], 12)
            self.assertEqual([one["offset"] for one in first["parameters"]], [0, 8])
            self.assertEqual(second["required_threads"], [64, 1, 1])
            targets = [one["target"] for one in first["instructions"] if "target" in one]
            self.assertTrue(targets)
            for target in targets:
                self.assertIn(target, range(0, first["size"], 16))

    def test_text_and_json_agree(self):
        for architecture in ("sm_75", "sm_90"):
            document = json.loads(self.listing("--json", self.assemble(architecture, "-c")))
            listing = self.listing("out")
            texts = [one for function in document["cubins"][0]["functions"] for one in function["instructions"]]
            lines = [line for line in listing.split("\n") if INSTRUCTION.match(line)]
            self.assertEqual(len(lines), len(texts))
            for line, one in zip(lines, texts):
                self.assertIn(f"/*{one['offset']:04x}*/", line)
                self.assertIn(f":S{one['control']['stall']:02}]", line)
                mnemonic = re.sub(r"^@\S+ ", "", one["text"]).split()[0]
                self.assertIn(mnemonic, line)

    def test_relocations_have_names(self):
        listing = self.listing(self.assemble("sm_80", "-c"))
        self.assertIn("32@lo(counter)", listing)
        self.assertRegex(listing, r"/\* R_CUDA_\w+ table \+ 0x4 \*/")

    @unittest.skipUnless(shutil.which("nvcc"), "there is no nvcc")
    def test_programs_of_nvcc(self):
        (self.folder / "a.cu").write_text("__global__ void twice(int *p) { p[0] *= 2; }\nint main() {}\n", encoding="utf-8")
        codes = ("-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_80,code=sm_80")
        for words in ((), ("-c",), ("-rdc=true", "-c"), ("-shared", "-Xcompiler", "-fPIC"), ("-fatbin",)):
            done = subprocess.run(["nvcc", *codes, *words, "-lineinfo", "-o", "out", "a.cu"], cwd=self.folder, capture_output=True, text=True, check=False)
            if done.returncode:
                self.skipTest("nvcc has no host compiler: " + done.stderr)
            listing = self.listing("out", "twice")
            self.assertIn("machine code for sm_75", listing)
            self.assertIn("machine code for sm_80", listing)
            self.assertIn('a.cu", line 1', listing)
            self.assertNotIn("sm_75", self.listing("--arch", "sm_80", "out"))


def published(name):
    """A file from CuAssembler's repository."""
    folder = pathlib.Path(os.environ["TYTO_CUASSEMBLER"])
    if (folder / name).is_file():
        return (folder / name).read_bytes()
    return subprocess.run(["git", "-C", folder, "show", f"HEAD:{name}"], capture_output=True, check=True).stdout


def lines_of(listing, section, label):
    """{(section, offset): (control, text, whether a label is there)}; labels have no numbers."""
    found, name, is_target = {}, None, False
    for line in listing.split("\n"):
        if match := re.search(section, line):
            name = match.group(1)
        elif re.match(rf"\s*{label}\d+:", line):
            is_target = True
        elif name and (match := re.match(r"\s*\[\S*?(B[-0-5]{6}:\S+)\]\s+/\*([0-9a-f]+)\*/\s+(.*?) *;", line)):
            text = re.sub(rf"{label}\d+", "LABEL", match.group(3))
            found[name, int(match.group(2), 16)] = match.group(1), re.sub(r"\s*,\s*", ", ", " ".join(text.split())), is_target
            is_target = False
    return found


@unittest.skipUnless(os.environ.get("TYTO_CUASSEMBLER"), "TYTO_CUASSEMBLER names no checkout of cloudcores/CuAssembler")
class Published(Case):
    def test_the_listing_is_the_published_one(self):
        (self.folder / "cubin").write_bytes(published("TestData/CuTest/cudatest.7.sm_75.cubin"))
        theirs = lines_of(published("TestData/CuTest/cudatest.7.sm_75.cuasm").decode(), r"\.section\s+(\.text\.\S+?),", r"\.L_(?:x_)?")
        ours = lines_of(self.listing("cubin"), r"//-+ (\.text\.\S+) -", r"\.L_x_")
        self.assertGreater(len(theirs), 400)
        # their listing also has labels at the ends of functions
        self.assertEqual({place: line[:2] for place, line in ours.items()}, {place: line[:2] for place, line in theirs.items()})
        self.assertEqual([place for place, line in ours.items() if line[2] and not theirs[place][2]], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
