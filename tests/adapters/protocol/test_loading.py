"""The version that a Python target has where it names none: that of the distribution that installs its package."""

import sys

import pytest

from turncheck.adapters.protocol.loading import Loaded, load


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install ``boxed``, the module *boxed* or a package, whose metadata are *files*."""

    def made(source, **files):
        (tmp_path / source).parent.mkdir(exist_ok=True)
        (tmp_path / source).write_text("def project(events):\n    return {}\n", "utf-8")
        metadata = tmp_path / "other_name-4.2.dist-info"
        metadata.mkdir()
        for name, text in {"METADATA": "Metadata-Version: 2.1\nName: other-name\nVersion: 4.2\n", **files}.items():
            (metadata / name).write_text(text, "utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "boxed", raising=False)
        found = load("boxed:project")
        assert isinstance(found, Loaded)
        return found.implementation.version

    yield made
    sys.modules.pop("boxed", None)


@pytest.mark.parametrize("source", ["boxed.py", "boxed/__init__.py"])
def test_a_distribution_whose_files_are_the_packages_gives_its_version(installed, source):
    assert installed(source, RECORD=f"unboxed.py,,\n{source},,\n") == "4.2"


def test_a_distribution_that_declares_the_package_gives_its_version(installed):
    assert installed("boxed.py", **{"top_level.txt": "other\nboxed\n", "RECORD": ""}) == "4.2"


@pytest.mark.parametrize("record", ["sandboxed.py,,\nboxed/data.json,,\nboxed.pyi,,\na/boxed.py,,\n", ""])
def test_a_distribution_that_has_another_package_gives_none(installed, record):
    assert installed("boxed.py", RECORD=record) == "unknown"
