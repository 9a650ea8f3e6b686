"""Tables of what ``check`` finds in many logs: a row a finding, and a row a session, in Parquet or JSON lines."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgspec

from turncheck.model.extras import needs_extra
from turncheck.model.writing import written

from .results import LogResult

Row = dict[str, Any]

_TOGETHER: Final = 10_000
"""Rows of a table that are held until they are written together: some 10 MB."""
FINDINGS: Final = {
    "log": "string",
    "session": "string",
    "agent": "string",
    "law": "string",
    "clauses": "list",
    "at": "int64",
    "line": "int64",
    "message": "string",
}
"""The columns of the table of findings."""
SESSIONS: Final = {
    "log": "string",
    "format": "string",
    "verdict": "string",
    "why": "string",
    "session": "string",
    "agent": "string",
    "cycles": "int64",
    "findings": "int64",
    "open": "bool",
}
"""The columns of the table of sessions; format, verdict and why are those of the log."""


class TableError(OSError):
    """A table cannot be written; the message names its file and says why. What stood there is left as it is."""


class _Writer(Protocol):
    def write(self, rows: list[Row]) -> None: ...

    def close(self) -> None: ...


class _JsonLines:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, rows: list[Row]) -> None:
        self._file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)

    def close(self) -> None:
        """Do nothing: each line is whole."""


class _Parquet:
    def __init__(self, file: BinaryIO, columns: dict[str, str]) -> None:
        arrow = import_module("pyarrow")
        types = {"string": arrow.string(), "int64": arrow.int64(), "bool": arrow.bool_()}
        types["list"] = arrow.list_(arrow.string())
        self._schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._batch = arrow.RecordBatch
        self._writer = import_module("pyarrow.parquet").ParquetWriter(file, self._schema)

    def write(self, rows: list[Row]) -> None:
        self._writer.write_batch(self._batch.from_pylist(rows, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _Table:
    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self._rows: list[Row] = []

    def add(self, rows: Iterator[Row]) -> None:
        self._rows += rows
        if len(self._rows) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            self._writer.write(self._rows)
        self._rows = []

    def close(self) -> None:
        self.flush()
        self.end()

    def end(self) -> None:
        self._writer.close()


def sessions_beside(path: Path) -> Path:
    """Return the path of the table of sessions, beside that of findings.

    >>> str(sessions_beside(Path("out/findings.parquet")))
    'out/findings.sessions.parquet'
    """
    return path.with_suffix(f".sessions{path.suffix}")


@contextmanager
def tables(path: Path) -> Generator[Callable[[LogResult], None]]:
    """Write the table of findings to *path*, and that of sessions beside it; yield what takes the result of a log.

    The suffix ``.parquet`` decides; any other file has JSON lines. The files appear when the context ends, whole; an
    interrupt keeps what came before it, any other exception nothing.

    Raises TableError, and MissingExtraError where Parquet needs the extra ``fleet``.
    """
    if path.suffix == ".parquet":
        needs_extra("fleet", "a table in Parquet")
    with ExitStack() as files:
        with _named(path):
            findings, sessions = (
                _Table(_Parquet(file, columns) if path.suffix == ".parquet" else _JsonLines(file))
                for own, columns in ((path, FINDINGS), (sessions_beside(path), SESSIONS))
                for file in [files.enter_context(written(own))]
            )

        def add(result: LogResult) -> None:
            with _named(path):
                findings.add(_findings(result))
                sessions.add(_sessions(result))

        def keep() -> None:
            with _named(path):
                findings.close()
                sessions.close()
                files.close()

        try:
            yield add
        except KeyboardInterrupt:
            keep()
            raise
        except BaseException:
            for table in (findings, sessions):
                with suppress(OSError):
                    table.end()  # into a file that nobody gets: PyArrow would do it later, when the file is gone
            raise
        keep()


@contextmanager
def _named(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise TableError(f"the table {path} cannot be written: {error.strerror or error}") from error


def _findings(result: LogResult) -> Iterator[Row]:
    for one in result.findings:
        yield {"log": result.log, **msgspec.structs.asdict(one), "clauses": list(one.clauses)}


def _sessions(result: LogResult) -> Iterator[Row]:
    """A row for each session; one for a log without any, such as one that cannot be read."""
    own = {"log": result.log, "format": result.format, "verdict": result.verdict, "why": result.why}
    for one in result.sessions:
        yield {**own, **msgspec.structs.asdict(one)}
    if not result.sessions:
        yield {**own, "session": None, "agent": None, "cycles": 0, "findings": len(result.findings), "open": False}
