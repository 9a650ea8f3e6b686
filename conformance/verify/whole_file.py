"""Write a file so that it is never seen in half, whatever ends this process."""

import os
import shutil
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write *content* beside *path*, and put it in its place; a device is written directly. Raises OSError."""
    real = path.resolve()
    if real.exists() and not real.is_file():
        real.write_bytes(content)
        return
    beside = real.with_name(f".{real.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        if real.exists():
            shutil.copymode(real, beside)
        beside.replace(real)
    finally:
        beside.unlink(missing_ok=True)
