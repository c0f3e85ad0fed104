#!/usr/bin/env python3
"""Programs whose machine code is not made from one PTX text by ptxas -O3: built by nvcc -G, or linked by nvlink.

usage: test_programs.py TYTO ROOT

Each runs its own machine code and must print the expected output. One calls what only PTX can call, so its PTX runs.
Skipped (status 77) without nvcc.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SOURCES = ROOT / "tests" / "isa" / "sass" / "programs"
DEBUG, LINKED = "thread 5\n1.9142 64.7508 no error\n", "107 222 500 no error\n"
ONLY_CODE = ("-gencode", "arch=compute_80,code=sm_80")
# sources, options of nvcc, compute capability, --code, maker of the machine code ("": PTX runs instead), output
CASES = (
    (("debug.cu",), ("-G", "-arch=sm_75"), "7.5", "machine", "ptxas", DEBUG),
    (("debug.cu",), ("-G", "-arch=sm_80"), "8.0", "machine", "ptxas", DEBUG),
    (("debug.cu",), ("-G", "-arch=sm_90"), "9.0", "machine", "ptxas", DEBUG),
    (("linked.cu", "linked_other.cu"), ("-rdc=true", "-arch=sm_80"), "8.6", "machine", "nvlink", LINKED),
    (("linked.cu", "linked_other.cu"), ("-rdc=true", *ONLY_CODE), "8.0", "ptx", "nvlink", LINKED),
    (("linked.cu", "linked_other.cu"), ("-rdc=true", "-arch=sm_80", "-DRECURSIVE"), "8.0", "machine", "nvlink", LINKED),
    (("linked.cu", "linked_other.cu"), ("-rdc=true", "-G", "-arch=sm_90"), "9.0", "machine", "nvlink", LINKED),
    (("children.cu",), ("-rdc=true", "-lcudadevrt", "-arch=sm_90"), "9.0", "machine", "", "42 no error\n"),
    (("constant_map.cu",), ("-arch=sm_90", "-lcuda"), "9.0", "machine", "ptxas", "96 189 no error\n"),
    ((str(ROOT / "tests" / "cudart" / "programs" / "graph_conditional.cu"),), ("-arch=sm_90",), "9.0", "machine", "ptxas", "passed\n"),
)
SKIPPED = 77


def run(folder, case):
    """A description of the failure, or ""."""
    sources, options, capability, code, maker, expected = case
    program, record = folder / "program", folder / "run.json"
    subprocess.run(["nvcc", "-cudart", "shared", *options, *(SOURCES / name for name in sources), "-o", program], check=True, capture_output=True, text=True)
    done = subprocess.run([TYTO, "run", "--functional", "--quiet", "--compute-capability", capability, "--code", code, "--json", record, program],
                          capture_output=True, text=True, timeout=120)
    ran = json.loads(record.read_text(encoding="utf-8"))["kernels"][0]["code"] if record.exists() else "nothing"
    record.unlink(missing_ok=True)
    is_expected = f", {maker} " in ran if maker else ran == "ptx"
    if done.returncode == 0 and done.stdout == expected and is_expected:
        return ""
    return f"{sources[0]} {' '.join(options)} as {code} on {capability}: status {done.returncode}, ran {ran}\n{done.stdout}{done.stderr}"


def main():
    if not shutil.which("nvcc"):
        print("skipped: there is no nvcc")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        failures = [text for text in (run(pathlib.Path(folder), case) for case in CASES) if text]
    print("\n".join(failures))
    print(f"{len(CASES) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
