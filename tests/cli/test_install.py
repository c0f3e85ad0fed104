#!/usr/bin/env python3
"""`meson install` into a separate folder: what is installed works from there, also after the folder was moved.

usage: test_install.py BUILD ROOT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PROGRAM = ROOT / "tests" / "cudart" / "programs" / "vector_add.cu"
PLAIN = {key: value for key, value in os.environ.items()
         if not key.startswith("TYTO_") and key != "LD_LIBRARY_PATH"}


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_links(folder):
    """Symbolic links that point to nothing, or out of the installation."""
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    for link in links:
        if not link.exists() or folder not in link.resolve().parents:
            yield f"{link.relative_to(folder)} leads to {os.readlink(link)}"
    if len(links) < 10:
        yield f"only {len(links)} links were found"


def check_commands(tyto, folder):
    def expect(part, *words):
        output = run(tyto, *words, env=PLAIN, cwd=folder)
        if part not in output:
            yield f"tyto {' '.join(map(str, words))} prints: {output}"

    yield from expect("vecadd: 1000 sums verified", "run", "--quiet", "vecadd", "--size", "1000")
    yield from expect("gtx480", "machines")
    yield from expect("ccws-figure-1", "reproduce", "list")
    yield from expect("", "cc", "--clang", "-O1", "-o", "program", PROGRAM)
    yield from expect("passed", "run", "--quiet", "./program")


def check_pkg_config(folder, name, place):
    """An example of the pages, built as they describe with the tyto.pc of a folder, runs."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    line = re.search(r"(?m)^    \$ (cc .*pkg-config.*)$", text).group(1)
    environment = {**PLAIN, "PKG_CONFIG_PATH": str(place)}
    shutil.copy(ROOT / "docs" / "examples" / "counters.c", folder)
    run("sh", "-c", line, env=environment, cwd=folder)
    shown = run("./counters", "cycles", env=environment, cwd=folder)
    if not re.fullmatch(r"cycles: \d+ SM cycles\n", shown):
        yield f"./counters prints: {shown}"


def check_installed(folder):
    """A user's policy and program need only the installed tyto.pc, headers and commands."""
    place, tyto = next(folder.rglob("tyto.pc")).parent, next(folder.rglob("bin/tyto"))
    environment = {**PLAIN, "PKG_CONFIG_LIBDIR": str(place), "PKG_CONFIG_SYSROOT_DIR": str(folder),
                   "LD_LIBRARY_PATH": str(place.parent)}
    flags = "$(pkg-config --cflags {} tyto)"
    run(tyto, "new", "scheduler", "mine", env=PLAIN, cwd=folder)
    run("sh", "-c", f"cc -shared -fPIC -o mine.so mine.c {flags.format('')}", env=environment, cwd=folder)
    cycles = {words: re.search(r"([\d,]+) cycles", subprocess.run(
        [tyto, "run", "--scheduler", words, "vecadd", "--size", "1000"], env=PLAIN, cwd=folder, capture_output=True, text=True,
        check=True).stderr).group(1) for words in ("./mine.c", "./mine.so")}
    if len(set(cycles.values())) != 1:
        yield f"a policy compiled by tyto and by hand: {cycles}"
    run("sh", "-c", f"cc -o counters {ROOT}/docs/examples/counters.c {flags.format('--libs')}", env=environment, cwd=folder)
    if not re.fullmatch(r"cycles: \d+ SM cycles\n", run("./counters", "cycles", env=environment, cwd=folder)):
        yield "counters, built by the installed tyto.pc, does not count"


def check_alias():
    """Files that are installed but are not part of the build target `running`: `make install` builds only that target."""
    graph = run("ninja", "-t", "graph", "running", cwd=BUILD)
    built = set(re.findall(r'label="([^"]*)"', graph))
    for target in json.loads(run("meson", "introspect", "--targets", BUILD)):
        for name in target["filename"] if target["installed"] else ():
            if os.path.relpath(name, BUILD) not in built:
                yield f"{name} is installed, and no part of the target `running`"


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        run("meson", "install", "--no-rebuild", "--destdir", folder / "first", cwd=BUILD)
        shutil.move(folder / "first", folder / "moved")
        tyto = next((folder / "moved").rglob("bin/tyto"))
        problems = [*check_alias(), *check_links(folder / "moved"), *check_commands(tyto, folder), *check_installed(folder / "moved"),
                    *check_pkg_config(folder, "library.md", BUILD / "meson-uninstalled")]
    print("\n".join(problems) or "the installation works, also moved")
    sys.exit(1 if problems else 0)


main()
