"""What is in a folder in which files are written, and what is told of a write that fails."""

import re

import pytest

from turncheck.model.writing import write_file

OLD = b"old\n"


def names(folder):
    return [path.name for path in folder.iterdir()]


def temporaries(folder):
    return [name for name in names(folder) if name.startswith(".turncheck-")]


def refused(path, data=b"new"):
    with pytest.raises(OSError, match=re.escape(str(path))) as refusal:
        write_file(path, data)
    assert refusal.value.filename == str(path)
    return refusal.value
