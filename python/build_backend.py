"""Builds the package for pip (PEP 517, 660) with only Python, so that its installation needs no network.

pyproject.toml has the name and the dependencies of the package. Its version is in tyto/__init__.py.
"""
import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile
from typing import Any, Dict, List, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parent
FILES = ("README.md", "build_backend.py", "pyproject.toml")  # of a source distribution, besides the package


def _project() -> Tuple[str, str, str]:
    """Name, version, and the text of the metadata."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    source = (ROOT / "tyto" / "__init__.py").read_text(encoding="utf-8")

    def one(pattern: str, where: str = text) -> str:
        found = re.search(pattern, where, re.M)
        if not found:
            raise ValueError(f"pyproject.toml: no {pattern}")
        return found.group(1)

    def listed(pattern: str) -> List[str]:
        return re.findall(r'"([^"]+)"', one(pattern))

    name, version = one(r'^name = "(.+)"$'), one(r'^__version__ = "(.+)"$', source)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {one(r'^description = .(.+).$')}",
             "License: MIT", f"Requires-Python: {one(r'^requires-python = .(.+).$')}"]
    lines += [f"Requires-Dist: {need.replace(' ', '')}" for need in listed(r"^dependencies = \[(.+)\]$")]
    for extra in ("frames", "plots"):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == '{extra}'" for need in listed(rf"^{extra} = \[(.+)\]$")]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text(encoding="utf-8")]
    return name, version, "\n".join(lines)


def _package() -> Dict[str, bytes]:
    """The files of the package, by their paths."""
    kept = [path for path in sorted((ROOT / "tyto").iterdir()) if path.suffix in (".py", ".h", ".typed")]
    return {f"tyto/{path.name}": path.read_bytes() for path in kept}


def _wheel(folder: str, files: Dict[str, bytes]) -> str:
    name, version, metadata = _project()
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": metadata.encode(),
             f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tyto\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = []
    file_name = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / file_name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{place},sha256={digest},{len(data)}\n")
            wheel.writestr(place, data)
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return file_name


def build_wheel(wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None) -> str:
    """Writes the package as a wheel; returns its file's name."""
    return _wheel(wheel_directory, _package())


def build_editable(wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None) -> str:
    """Writes a wheel that refers to this folder, for pip install -e."""
    return _wheel(wheel_directory, {"tyto.pth": f"{ROOT}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: Optional[Any] = None) -> str:
    """Writes the sources; returns their file's name."""
    name, version, metadata = _project()
    top = f"{name}-{version}"
    made = pathlib.Path(sdist_directory) / "PKG-INFO"
    made.write_text(metadata, encoding="utf-8")
    with tarfile.open(pathlib.Path(sdist_directory) / f"{top}.tar.gz", "w:gz") as archive:
        for file in FILES:
            archive.add(ROOT / file, f"{top}/{file}")
        for place in _package():
            archive.add(ROOT / place, f"{top}/{place}")
        archive.add(made, f"{top}/PKG-INFO")
    made.unlink()
    return f"{top}.tar.gz"
