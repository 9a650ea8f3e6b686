"""A copy of what a wheel is built from: the checkout stays clean."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("adapters", "conformance", "model")


def copied(folder):
    """Copy the sources into *folder*, which may exist already; return it."""
    folder.mkdir(exist_ok=True)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".src" / "turncheck").mkdir(parents=True)
    for name in ("__init__.py", "py.typed"):
        shutil.copy(ROOT / ".src" / "turncheck" / name, folder / ".src" / "turncheck")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder
