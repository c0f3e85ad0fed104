"""The builds to measure: a build folder, a revision of the repository, or the current files.

Missing builds are made for release, with line numbers (which do not change the code), in build-compare/TREE/, where
TREE is the hash of the files. They are kept, so that measuring them again needs no build.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

from cases import CASES

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "build-compare"
FILES_AS_THEY_ARE = "."  # stands for the current files instead of a revision

# Its name, its folder, its sources, its commit ("" for a folder) and the commit's time.
Build = collections.namedtuple("Build", "name folder tree commit time")


class BuildError(Exception):
    """A build cannot be made; the message says why."""


def output_of(*words, cwd=ROOT):
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, words))}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout.strip()


def sources_of(folder):
    """The folder of a build's sources, from Meson's files."""
    try:
        about = json.loads((folder / "meson-info" / "meson-info.json").read_text(encoding="utf-8"))
        return pathlib.Path(about["directories"]["source"])
    except (OSError, ValueError, KeyError) as error:
        raise BuildError(f"{folder}: not a build folder: {error}") from error


def commit_of(revision):
    if revision == FILES_AS_THEY_ARE:
        return output_of("git", "stash", "create") or commit_of("HEAD")
    try:
        return output_of("git", "rev-parse", "--verify", "--quiet", revision + "^{commit}")
    except BuildError:
        raise BuildError(f"{revision}: neither a build folder nor a revision") from None


def unpack(commit, tree):
    """Puts the files of a commit into a new folder."""
    tree.mkdir(parents=True)
    with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)


def make(tree, build):
    """Builds sources for release, with line numbers: the targets of the cases, without tests."""
    options = ["-Dbuildtype=release", "-Dc_args=-g", "-Dwerror=false"]
    if "option('tests'" in (tree / "meson_options.txt").read_text(encoding="utf-8"):
        options.append("-Dtests=false")
    output_of("meson", "setup", build, tree, *options)
    names = sorted({case.workload for case in CASES})
    output_of("ninja", "-C", build, f"-j{os.cpu_count()}",
              *(f"workloads/{name}{ending}" for name in names for ending in ("", ".ptx")))


def find_build(text, say=print):
    """The build that a folder's path or a revision names; makes it if necessary."""
    folder = pathlib.Path(text)
    if text != FILES_AS_THEY_ARE and (folder / "build.ninja").exists():
        folder = folder.resolve()
        return Build(text, folder, sources_of(folder), "", "")
    commit = commit_of(text)
    kept = KEPT / output_of("git", "rev-parse", commit + "^{tree}")[:12]
    if not (kept / "is-built").exists():
        say(f"building {text} ({commit[:7]})")
        shutil.rmtree(kept, ignore_errors=True)
        unpack(commit, kept / "tree")
        make(kept / "tree", kept / "build")
        (kept / "is-built").touch()
    return Build(commit[:7] if text != FILES_AS_THEY_ARE else "the files as they are", kept / "build", kept / "tree",
                 commit[:12], output_of("git", "show", "-s", "--format=%cI", commit))


def compiler_of(build):
    """Compiler and version, from the library's comment section."""
    comment = output_of("readelf", "-p", ".comment", build.folder / "libtyto.so")
    return re.sub(r": \(.*?\)", "", re.search(r"\]\s+(.*)", comment).group(1))
