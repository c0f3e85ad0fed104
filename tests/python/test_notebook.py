#!/usr/bin/env python3
"""The example notebook runs from its first cell to its last, and shows the results that it describes.

usage: test_notebook.py TYTO ROOT
"""
import os
import pathlib
import sys
import tempfile

TYTO, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PATH = ROOT / "python" / "examples" / "warp-schedulers.ipynb"

try:
    import nbclient
    import nbformat
    import ipykernel  # noqa: F401 (the kernel that is started)
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
    import cffi  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

os.environ.update(TYTO=str(TYTO), PYTHONPATH=str(ROOT / "python"), MPLBACKEND="module://matplotlib_inline.backend_inline")
notebook = nbformat.read(PATH, as_version=4)
with tempfile.TemporaryDirectory() as folder:
    os.environ.update(HOME=folder, IPYTHONDIR=folder, MPLCONFIGDIR=folder)
    nbclient.NotebookClient(notebook, timeout=280, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
kinds = {kind for cell in cells for output in cell.outputs for kind in output.get("data", {})}
failed = [cell.source for cell in cells if any(output.output_type == "error" for output in cell.outputs)]
missing = {"text/html", "image/png"} - kinds
kept = [cell.source for cell in nbformat.read(PATH, as_version=4).cells if cell.cell_type == "code" and cell.outputs]
print("\n".join(failed), f"no output of kind {missing}" if missing else "", "outputs are kept in the file" if kept else "")
bad = len(failed) + bool(missing) + bool(kept)
print(f"{len(cells) - len(failed)} passed, {bad} failed")
sys.exit(bool(bad))
