"""The files of a source tree, for the scripts that check them."""
import subprocess


def tracked_files(root):
    """Names of the files that git tracks; without git, of all files outside build folders and Python's caches."""
    try:
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
        return sorted(name for name in listing.stdout.decode().split("\0") if name)
    except (OSError, subprocess.CalledProcessError):
        names = (p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
        return sorted(n for n in names if not n.startswith(("build", ".git/")) and "__pycache__/" not in n)
