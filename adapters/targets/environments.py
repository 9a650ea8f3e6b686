"""The environments of known runtimes: each is made once, from its lock file, and kept in the user's cache.

Its place is ``$XDG_CACHE_HOME/turncheck/runtimes/NAME-VERSION-DIGEST``: the digest covers the files that list the
installed packages, and the platform. A file that is written last marks an environment as whole. Installing runs no
code of the packages: install scripts and source distributions are off.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from ..protocol.errors import StartError

Say: TypeAlias = Callable[[str], None]
"""A function that is called with one line for people before each slow step."""

Command: TypeAlias = tuple[tuple[str, ...], Mapping[str, str]]
"""The arguments that start a process, and its environment variables in addition to those of this process."""

LAST_LINES: Final = 15
"""Lines kept of a failing tool's output: npm ends with eight lines about its log, after the failure."""
MARKER: Final = "made"
KIT: Final = Path(__file__).parents[1] / "kit"


def cache() -> Path:
    """Return the folder of all environments, which need not exist. Raises StartError without a home directory."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the specification ignores relative paths
    try:
        return (given if given.is_absolute() else Path.home() / ".cache") / "turncheck" / "runtimes"
    except RuntimeError as error:
        raise StartError("no place for the environments: HOME and XDG_CACHE_HOME are not set", see="") from error


@dataclass(frozen=True)
class Need:
    """A required program, and its lowest version."""

    program: str
    minimum: tuple[int, int]
    version: Callable[[], str | None]
    """The installed version; None without the program."""

    def __str__(self) -> str:
        return f"{self.program}>={'.'.join(map(str, self.minimum)).removesuffix('.0')}"

    @property
    def met(self) -> bool:
        """True if the program is installed in that version or later."""
        found = self.version()
        return found is not None and tuple(map(int, re.findall(r"\d+", found)[:2])) >= self.minimum


@dataclass(frozen=True)
class Environment(ABC):
    """The environment *name* (with the version in it), whose packages are all in the lock file *lock*."""

    name: str
    lock: Path

    need: ClassVar[Need]
    _tag: ClassVar[str] = ""
    """The facts outside its files on which an environment depends."""

    @property
    def folder(self) -> Path:
        """Its folder, made or not. Raises StartError if the lock file cannot be read, or there is no cache."""
        digest = hashlib.sha256(f"{sysconfig.get_platform()} {self._tag}".encode())
        for path in self._files:
            try:
                digest.update(path.read_bytes())
            except OSError as error:
                raise StartError(f"{self.name}: its lock file cannot be read: {error}") from error
        return cache() / f"{self.name}-{digest.hexdigest()[:12]}"

    @property
    def made(self) -> bool:
        """True if it is made, and whole."""
        return (self.folder / MARKER).is_file()

    def make(self, say: Say) -> Path:
        """Make it, unless it exists, and return its folder. *say* is called with a line before each slow step.

        Only one process makes it; others wait. Raises StartError if a required program is missing or a tool fails.
        """
        folder = self.folder
        if self.made:
            return folder
        if not self.need.met:
            raise self._lacking(self.need.version())
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _locked(folder.with_name(f"{folder.name}.lock"), self.name, say) as lock:
                if self.made:
                    return folder
                say(f"making the environment of {self.name} in {folder}: once, a minute or less")
                if folder.exists():  # half made by a killed process or a failed tool
                    shutil.rmtree(folder)
                folder.mkdir()
                for command in self._commands(folder):
                    self._run(command, folder, lock)
                (folder / MARKER).touch()
        except OSError as error:
            raise StartError(f"cannot make the environment of {self.name} in {folder}: {error}") from error
        return folder

    @abstractmethod
    def command(self, script: Path) -> Command:
        """Return the command that runs *script* in it."""

    def _lacking(self, found: str | None) -> StartError:
        came = found or "none on PATH"
        return StartError(f"{self.name} needs {self.need}", expected=str(self.need), came=came, see="docs/platforms.md")

    @property
    def _files(self) -> tuple[Path, ...]:
        """The files that list the installed packages."""
        return (self.lock,)

    @abstractmethod
    def _commands(self, folder: Path) -> Sequence[Sequence[str]]:
        """Return the commands that make it in *folder*, which is empty and is the working directory."""

    def _run(self, command: Sequence[str], folder: Path, lock: int) -> None:
        """Run a tool. It holds *lock* too, since it goes on writing if this process is killed."""
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[lock],
            check=False,
        )
        if done.returncode:
            raise StartError(
                f"cannot make the environment of {self.name}: {Path(command[0]).name} ended with {done.returncode}",
                sent=" ".join(command),
                expected=f"an environment in {folder}, exactly as {self.lock} says",
                stderr=done.stdout.decode(errors="replace").splitlines()[-LAST_LINES:],
            )


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _node_version() -> str | None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    done = subprocess.run([node, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


class PythonEnvironment(Environment):
    """A virtual environment of this Python, filled by pip."""

    need = Need("python", (3, 11), platform.python_version)
    _tag = sys.implementation.cache_tag or ""

    @property
    def made(self) -> bool:
        """True if it is made, and whole: the Python that made it still exists."""
        return super().made and _python(self.folder).exists()

    def command(self, script: Path) -> Command:
        """Return a command of its Python, which can import the helper library and the files beside the script."""
        return (str(_python(self.folder)), str(script)), {"PYTHONPATH": str(KIT)}

    def _commands(self, folder: Path) -> Sequence[Sequence[str]]:
        # -I: neither PYTHONPATH nor the user's own packages count.
        options = "--no-input", "--disable-pip-version-check", "--progress-bar=off", "--only-binary=:all:"
        return (
            (sys.executable, "-I", "-m", "venv", str(folder)),
            (str(_python(folder)), "-I", "-m", "pip", "install", *options, "--require-hashes", "-r", str(self.lock)),
        )


class NodeEnvironment(Environment):
    """A folder with ``node_modules``, filled by npm; ``package.json`` is beside the lock file."""

    need = Need("node", (20, 0), _node_version)

    def command(self, script: Path) -> Command:
        """Return a command of Node; TURNCHECK_ENVIRONMENT is the folder of ``node_modules``."""
        node = shutil.which("node")
        if node is None:  # it was there when the environment was made
            raise self._lacking(None)
        return (node, str(script)), {"TURNCHECK_ENVIRONMENT": str(self.folder)}

    @property
    def _files(self) -> tuple[Path, ...]:
        return self.lock.with_name("package.json"), self.lock

    def _commands(self, folder: Path) -> Sequence[Sequence[str]]:
        for path in self._files:
            shutil.copyfile(path, folder / path.name)
        return (("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"),)


@contextmanager
def _locked(path: Path, name: str, say: Say) -> Generator[int, None, None]:
    """Hold the lock on *path*; yield its descriptor. The kernel frees the lock with the last process that holds it."""
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process, which is making the environment of {name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
