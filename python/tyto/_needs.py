"""Modules that the package needs, and where they come from. The error for a missing module has both names."""
import importlib.util

PACKAGES = {"cffi": "python3-cffi", "numpy": "python3-numpy", "pandas": "python3-pandas", "matplotlib": "python3-matplotlib"}  # of Debian


def need(module: str, what: str = "tyto") -> None:
    """Raises ImportError, with the packages to install, if a module is not available."""
    try:
        is_there = importlib.util.find_spec(module) is not None
    except ValueError:  # the module was imported without a spec
        is_there = False
    if not is_there:
        raise ImportError(f"{what} needs the module {module}: install Debian's package {PACKAGES[module]}, or pip install {module}", name=module)


for _module in ("cffi", "numpy"):
    need(_module)
