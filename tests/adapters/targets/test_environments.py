"""The environments of known runtimes: made once, whole or not at all, and exactly as their lock files say."""

import base64
import fcntl
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import threading
from dataclasses import replace
from zipfile import ZipFile

import pytest

from turncheck.adapters.protocol.errors import BadTargetError, StartError
from turncheck.adapters.targets.environments import (
    MARKER,
    Environment,
    Need,
    NodeEnvironment,
    PythonEnvironment,
)
from turncheck.adapters.targets.runtime_catalog import command_of, find, known

PATIENCE = 60.0  # seconds; never waited for


class Shell(Environment):
    """An environment that the shell makes, by what its lock file says."""

    need = Need("sh", (1, 0), lambda: "1.0")
    _tag = ""

    @property
    def _files(self):
        return (self.lock,)

    def _commands(self, folder):
        return (("sh", "-c", self.lock.read_text()),)

    def command(self, script):
        return ("sh", str(script)), {}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, and tools that cannot ask anybody."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_offline", "true")
    return tmp_path / "cache" / "turncheck" / "runtimes"


@pytest.fixture
def shell(tmp_path):
    def shell(text, name="tiny-1.0"):
        lock = tmp_path / "tiny.lock"
        lock.write_text(text)
        return Shell(name, lock)

    return shell


@pytest.fixture
def said():
    return []


def wheel(folder):
    """A wheel of tiny 1.0 in *folder*, and its hash."""
    path = folder / "tiny-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "VERSION = '1.0'\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def python_environment(folder, digest=None):
    right = wheel(folder)
    lock = folder / "requirements.lock"
    lock.write_text(f"--no-index\n--find-links {folder}\ntiny==1.0 --hash=sha256:{digest or right}\n")
    return PythonEnvironment("tiny-1.0", lock)


def node_environment(folder):
    """Of a package whose install script leaves a file behind, if it is run."""
    package = {
        "name": "tiny",
        "version": "1.0.0",
        "main": "tiny.js",
        "scripts": {"install": f"touch {folder / 'install-script-ran'}"},
    }
    files = {"package/package.json": json.dumps(package), "package/tiny.js": "exports.version = '1.0.0'\n"}
    path = folder / "tiny-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    root = {"name": "environment", "dependencies": {"tiny": f"file:{path}"}}
    locked = {"version": "1.0.0", "resolved": f"file:{path}", "integrity": integrity, "hasInstallScript": True}
    lock = {"name": "environment", "lockfileVersion": 3, "packages": {"": root, "node_modules/tiny": locked}}
    (folder / "package.json").write_text(json.dumps(root))
    (folder / "package-lock.json").write_text(json.dumps(lock))
    return NodeEnvironment("tiny-1.0.0", folder / "package-lock.json")


def run(environment, script, text):
    script.write_text(text)
    arguments, variables = environment.command(script)
    return subprocess.check_output(arguments, env={**os.environ, **variables}, text=True, timeout=PATIENCE)


def test_a_python_environment_has_what_its_lock_file_says(tmp_path, said):
    environment = python_environment(tmp_path)
    environment.make(said.append)
    assert run(environment, tmp_path / "script.py", "import tiny; print(tiny.VERSION)") == "1.0\n"


def test_a_python_script_can_import_the_helper_library(tmp_path):
    _, variables = python_environment(tmp_path).command(tmp_path / "script.py")
    assert variables["PYTHONPATH"].endswith("adapters/kit")


def test_a_node_environment_has_what_its_lock_file_says(tmp_path, said):
    environment = node_environment(tmp_path)
    environment.make(said.append)
    script = (
        'const require = (await import("node:module")).createRequire(process.env.TURNCHECK_ENVIRONMENT + "/here.js");'
        'console.log(require("tiny").version);'
    )
    assert run(environment, tmp_path / "script.mjs", script) == "1.0.0\n"


def test_install_scripts_are_not_run(tmp_path, said):
    node_environment(tmp_path).make(said.append)
    assert not (tmp_path / "install-script-ran").exists()


def test_a_wheel_with_another_hash_is_refused_with_the_last_lines_of_the_tool(tmp_path, said):
    environment = python_environment(tmp_path, digest="0" * 64)
    with pytest.raises(StartError, match=r"cannot make the environment of tiny-1\.0: python ended with 1") as caught:
        environment.make(said.append)
    assert "0" * 64 in "".join(caught.value.stderr)


def test_an_environment_of_a_python_that_has_gone_is_not_there(tmp_path):
    environment = python_environment(tmp_path)
    programs = environment.folder / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(tmp_path / "gone")
    (environment.folder / MARKER).touch()
    assert not environment.made


def test_an_environment_is_in_the_cache_under_its_name_and_version(shell, said, cache):
    folder = shell("touch here").make(said.append)
    assert (folder.parent, folder.name.rpartition("-")[0]) == (cache, "tiny-1.0")


def test_a_relative_cache_folder_is_ignored_as_its_specification_says(shell, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert shell("").folder.is_relative_to(tmp_path / "home" / ".cache" / "turncheck")


def test_one_notice_says_that_it_is_made_and_where(shell, said):
    folder = shell("touch here").make(said.append)
    assert said == [f"making the environment of tiny-1.0 in {folder}: once, a minute or less"]


def test_an_environment_that_is_there_is_not_made_again(shell, said):
    environment = shell("touch here")
    folder = environment.make(said.append)
    (folder / "here").unlink()
    environment.make(said.append)
    assert not (folder / "here").exists()


def test_another_lock_file_is_another_environment(shell):
    assert shell("touch here").folder != shell("touch there").folder


def test_a_failing_tool_is_shown_with_its_last_lines(shell, said):
    with pytest.raises(StartError) as caught:
        shell("seq 1 100; echo no such package >&2; exit 3").make(said.append)
    assert str(caught.value).startswith("cannot make the environment of tiny-1.0: sh ended with 3\n  sent: sh -c")
    assert caught.value.stderr[-2:] == ("100", "no such package")


def test_what_a_failing_tool_left_is_not_taken_for_whole(shell, said):
    environment = shell("touch half; false")
    with pytest.raises(StartError):
        environment.make(said.append)
    assert ((environment.folder / "half").exists(), environment.made) == (True, False)


def test_a_half_made_environment_is_made_from_nothing(shell, said):
    environment = shell("touch here")
    environment.folder.mkdir(parents=True)
    (environment.folder / "left").touch()
    folder = environment.make(said.append)
    assert sorted(path.name for path in folder.iterdir()) == sorted([MARKER, "here"])


def test_who_comes_second_waits_and_makes_nothing(shell):
    environment = shell("false")
    environment.folder.mkdir(parents=True)
    waits = threading.Event()
    with environment.folder.with_name(f"{environment.folder.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = threading.Thread(target=environment.make, args=[lambda _: waits.set()])
        second.start()
        assert waits.wait(PATIENCE)
        (environment.folder / MARKER).touch()
    second.join(PATIENCE)
    assert not second.is_alive()


def test_the_lock_is_held_as_long_as_a_tool_writes_even_if_who_started_it_is_killed(shell, tmp_path):
    for name in ("begun", "go"):
        os.mkfifo(tmp_path / name)
    environment = shell(f"echo > {tmp_path / 'begun'}; cat {tmp_path / 'go'}")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from test_environments import Shell\n"
        "Shell('tiny-1.0', Path(sys.argv[2])).make(print)"
    )
    folder = str(os.path.dirname(__file__))  # noqa: PTH120
    maker = subprocess.Popen([sys.executable, "-c", program, folder, str(environment.lock)], stdout=subprocess.DEVNULL)
    (tmp_path / "begun").read_bytes()
    maker.send_signal(signal.SIGKILL)
    maker.wait(PATIENCE)
    with environment.folder.with_name(f"{environment.folder.name}.lock").open("wb") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (tmp_path / "go").write_bytes(b"")
        fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.mark.parametrize(("version", "came"), [("v18.20.1", "v18.20.1"), (None, "none on PATH")])
def test_a_node_that_is_too_old_or_absent_is_named(tmp_path, monkeypatch, said, version, came):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("node", "npm") if version else ():
        (programs / name).write_text(f"#!/bin/sh\necho {version}\n")
        (programs / name).chmod(0o755)
    environment = node_environment(tmp_path)
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(StartError) as caught:
        environment.make(said.append)
    assert str(caught.value).startswith(f"tiny-1.0.0 needs node>=20\n  expected: node>=20\n  came: {came}\n")


def test_a_cache_that_cannot_be_written_is_an_error_that_says_so(shell, said, cache):
    cache.parent.mkdir(parents=True)
    cache.touch()
    with pytest.raises(StartError, match=r"cannot make the environment of tiny-1\.0 in .*: .*File exists"):
        shell("true").make(said.append)


def test_a_missing_lock_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(StartError, match=r"tiny-1\.0: its lock file cannot be read: .*none\.lock"):
        _ = PythonEnvironment("tiny-1.0", tmp_path / "none.lock").made


@pytest.mark.parametrize("runtime", known().values(), ids=str)
def test_a_known_runtime_has_its_adapter(runtime):
    assert runtime.adapter.is_file()


@pytest.mark.parametrize("runtime", known().values(), ids=str)
def test_the_lock_file_of_a_known_runtime_has_the_version_that_its_name_says(runtime):
    text = runtime.environment.lock.read_text("utf-8")
    if isinstance(runtime.environment, NodeEnvironment):
        locked = json.loads(text)["packages"][f"node_modules/{runtime.package}"]["version"]
    else:
        (locked,) = re.findall(rf"^{re.escape(runtime.package)}(?:\[[^\]]*\])?==(\S+)", text, re.MULTILINE)
    assert locked == runtime.version


@pytest.mark.parametrize("runtime", known().values(), ids=str)
def test_the_lock_file_of_a_known_runtime_names_no_host(runtime):
    assert "://" not in runtime.environment.lock.read_text("utf-8")


@pytest.mark.parametrize(("text", "found"), [("pi", "pi@0.87.1"), ("pi@0.73.1", "pi@0.73.1"), ("p", None)])
def test_a_name_without_version_means_the_newest(text, found):
    runtime = find(text)
    assert (None if runtime is None else str(runtime)) == found


@pytest.mark.parametrize("text", ["pi@0.80.0", "pi@", "pi@0.87"])
def test_a_version_that_is_not_known_is_never_replaced_by_another(text):
    with pytest.raises(BadTargetError, match=f"no target '{text}': of pi there is pi@0.73.1, pi@0.87.1"):
        find(text)


def test_the_command_of_a_runtime_makes_its_environment(shell, said, tmp_path):
    environment = shell("touch here")
    runtime = replace(known()["pi@0.87.1"], environment=environment, adapter=tmp_path / "adapter.sh")
    assert command_of(runtime, said.append) == (("sh", str(tmp_path / "adapter.sh")), {})
    assert environment.made


def test_a_node_that_is_gone_since_the_environment_was_made_is_named(tmp_path, monkeypatch):
    environment = node_environment(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StartError, match=r"tiny-1\.0\.0 needs node>=20\n(.*\n)*  see: docs/platforms\.md"):
        environment.command(tmp_path / "adapter.mjs")


def test_a_user_without_a_home_is_told_what_is_not_set(tmp_path, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pathlib.Path, "home", homeless)
    with pytest.raises(StartError, match="HOME and XDG_CACHE_HOME are not set"):
        _ = node_environment(tmp_path).made
