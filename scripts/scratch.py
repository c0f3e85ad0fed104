"""A scratch copy of the sources with its own build, for scripts that test changed sources."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ("-Dbuildtype=plain", "-Doptimization=1", "-Dwerror=false")


def source_files(root):
    """The files that git tracks or would track (without git: all except build folders and Python's caches)."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=root, capture_output=True, check=True)
        names = listing.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [name for name in source_files_of_copy(root) if not name.startswith(("build", ".git/"))]
    return sorted(name for name in names if name and (root / name).is_file())


class Scratch:
    """folder/tree is the copy, folder/build its build. Files are written only if their text changes, so that
    later runs reuse the build."""

    def __init__(self, folder, root=ROOT):
        self.root, self.folder = root, pathlib.Path(folder).resolve()
        self.tree, self.build = self.folder / "tree", self.folder / "build"
        self.changed = set()

    def copy(self):
        names = source_files(self.root)
        for name in names:
            self.restore(name)
        kept = set(names)
        for name in source_files_of_copy(self.tree):
            if name not in kept:
                (self.tree / name).unlink()
        self.changed.clear()

    def read(self, name):
        return (self.tree / name).read_text(encoding="utf-8")

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.changed.add(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def restore(self, name):
        """Restores a file from the sources, or removes it if the sources do not have it."""
        source, path = self.root / name, self.tree / name
        if not source.exists():
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != source.read_bytes():
            shutil.copyfile(source, path)
            shutil.copymode(source, path)

    def restore_all(self):
        while self.changed:
            self.restore(self.changed.pop())

    def set_up(self):
        if not (self.build / "build.ninja").exists():
            run(["meson", "setup", self.build, self.tree, *OPTIONS], 600)
        self.ninja("build.ninja")  # for the current tree

    def ninja(self, *targets):
        """Builds the targets. Returns (whether it succeeded, its output)."""
        return run(["ninja", "-C", self.build, *targets], 1800)

    def introspect(self, what):
        done = subprocess.run(["meson", "introspect", self.build, f"--{what}"], capture_output=True, text=True,
                              check=True)
        return json.loads(done.stdout)


def source_files_of_copy(tree):
    return [path.relative_to(tree).as_posix() for path in tree.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts]


def run(command, timeout, **how):
    """Runs a command in its own session, and ends the whole session when the time is over. Returns (whether it exited
    with 0, its output)."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
                          **how) as process:
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            return False, said + f"\nstopped after {timeout} s"
    return process.returncode == 0, said
