"""Reasons why a program cannot be started: the system has one error number for several causes."""

import errno
import os
import shutil
from pathlib import Path
from typing import Final

_SHEBANG: Final = 256
"""Bytes of a script's first line that Linux reads (BINPRM_BUF_SIZE)."""
_INSTALLED: Final = {"node": "Node.js, 20 or later (https://nodejs.org)"}
"""Program → the package that has it, in the version that our adapters and the helper library need."""


def unstartable(program: str, error: OSError | ValueError) -> str:
    """Return a clause that says why starting *program* raised *error*.

    >>> unstartable("no-such-program", FileNotFoundError(2, "No such file or directory"))
    "no program 'no-such-program' is on PATH: install it, or write the path of its file"
    """
    if not isinstance(error, OSError):
        return str(error)  # a NUL in the command line
    try:
        Path.cwd()
    except OSError:
        return "the working directory is not there any more: change to another one"
    if "/" not in program and shutil.which(program, os.F_OK) is None:
        return (
            f"no program {program!r} is on PATH: install {_INSTALLED.get(program, 'it')}, or write the path of its file"
        )
    path = Path(shutil.which(program, os.F_OK) or program)
    try:
        return _of_file(path, error)
    except OSError:  # its status cannot be read either
        return f"{path}: {error.strerror}"


def _of_file(path: Path, error: OSError) -> str:
    interpreter = _interpreter(path)
    if not path.exists():
        return f"there is no file {path}"
    if path.is_dir():
        return f"{path} is a directory, and no program"
    if error.errno == errno.EACCES and not os.access(path, os.X_OK):
        return f"{path} is not executable: `chmod +x` makes it so, or name the program that runs it first"
    if error.errno == errno.ENOEXEC:
        return f"{path} is no program of this system, and its first line does not name one that runs it (`#!`)"
    if interpreter is not None and not Path(interpreter).exists():
        return f"{path} wants to be run by {interpreter!r}, which does not exist: its first line says so"
    return f"{path}: {error.strerror}"


def _interpreter(path: Path) -> str | None:
    """Return the program that the first line of a script names; None for a file without such a line."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head, _, _ = file.read(_SHEBANG).partition(b"\n")
    return os.fsdecode(head[2:]).strip().split(" ")[0] if head.startswith(b"#!") else None
