"""A log in Parquet: one column has its lines, and another one, where there is one, the session of each.

Each session is a log of its own, of one format; a position is the number of a row, from 0. Memory: some hundred rows,
and what each session's mapper holds back.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import AgentSession, Event, Malformed, session_and_agent
from turncheck.model.extras import needs_extra

from .beginning import Looked, value_of
from .chunks import TOO_LONG, Chunk
from .formats.mapping import Format, Mapper
from .framing import Frame, Origin
from .places import seekable, told
from .reading import Log, format_of, is_settled

SUFFIX: Final = ".parquet"
COLUMNS: Final = ("line", "session")
"""The columns of lines and of sessions, by default."""
_ROWS: Final = 512
"""Rows per batch."""


class NotATableError(ValueError):
    """A file is no Parquet that can be read, or lacks the column of lines; the message says which it has."""


@contextmanager
def read_table(
    path: str, columns: tuple[str, str] = COLUMNS, *, format_name: str | None = None, max_line: int
) -> Generator[Log]:
    """Read the log in the Parquet file at *path*; *columns* name those of lines and of sessions.

    The file may lack the second one: then its rows are of one session, unless their events name theirs. A row without
    a line is unreadable. The format is recognised by the first rows, whichever their sessions, where it is not named.

    Raises NotATableError, MissingExtraError, and what ``places.opened`` and ``reading.read_log`` raise.
    """
    needs_extra("fleet", "a log in Parquet")
    with seekable(path) as file:
        batches = _batches(file, path, columns, max_line)
        looked = Looked(live=False, settled=is_settled(format_name))
        head: list[list[_Row]] = []
        while not looked.enough and (rows := next(batches, None)) is not None:
            head.append(rows)
            for data, _, _ in rows:
                if not looked.enough:
                    looked.take(Frame(0, Origin(1, 0), data))
        form, why = format_of(looked, format_name)
        yield Log(form, _Sessions(form).chunks(chain(head, batches)), why)


_Row = tuple[bytes | None, bool, str | None]
"""A line, None where it is missing or over the limit, whether it is over the limit, and its session."""


def _batches(file: Any, path: str, columns: tuple[str, str], max_line: int) -> Iterator[list[_Row]]:
    """The rows, some hundred at a time."""
    line, session = columns
    with _understood(path):
        table = import_module("pyarrow.parquet").ParquetFile(file)
        names: list[str] = table.schema_arrow.names
    if line not in names:
        raise NotATableError(f"it has no column {line!r} of lines, but {', '.join(names)}: name it with --columns")
    wanted = [name for name in (line, session) if name in names]
    found = table.iter_batches(batch_size=_ROWS, columns=wanted, use_threads=False)
    while True:
        with _understood(path):
            batch = next(found, None)
        if batch is None:
            return
        texts = [_bytes(text) for text in batch.column(line).to_pylist()]
        named = batch.column(session).to_pylist() if session in names else [None] * len(texts)
        rows: list[_Row] = []
        for text, name in zip(texts, named, strict=True):
            over = text is not None and len(text) > max_line
            rows.append((None if over else text, over, None if name is None else str(name)))
        yield rows


def _bytes(text: Any) -> bytes | None:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    return text if isinstance(text, bytes) else None


@contextmanager
def _understood(path: str) -> Generator[None]:
    """Say in one line what is wrong with a file."""
    try:
        with told(path):
            yield
    except ValueError as error:
        raise NotATableError(f"it is no Parquet that can be read: {error}") from error


class _Sessions:
    """The mappers of the sessions."""

    def __init__(self, form: Format) -> None:
        self._form = form
        self._mappers: dict[str | None, Mapper] = {}

    def chunks(self, batches: Iterator[list[_Row]]) -> Iterator[Chunk]:
        """Yield what the rows say; the last chunk has what the mappers held back."""
        at = 0
        last: tuple[int, list[tuple[int, Event]]] | None = None
        for rows in batches:
            if last is not None:
                yield _chunk(*last, at)
            last = (at, [])
            for row in rows:
                last[1].extend(self._heard(at, *row))
                at += 1
        if last is not None:
            for session, mapper in self._mappers.items():
                last[1].extend((place, _in(event, session)) for place, event in mapper.end())
            yield _chunk(*last, at)

    def _heard(self, at: int, data: bytes | None, over: bool, session: str | None) -> Iterator[tuple[int, Event]]:  # noqa: FBT001
        mapper = self._mappers.get(session)
        if mapper is None:
            mapper = self._mappers[session] = self._form.mapper()
        for place, event in mapper.value(at, value_of(Frame(at, Origin(at + 1, 0), data))):
            known = TOO_LONG if over and place == at and isinstance(event, Malformed) else event
            yield place, _in(known, session)


def _in(event: Event, session: str | None) -> Event:
    """The event as one of its row's session."""
    if session is None:
        return event
    agent = session_and_agent(event.session_id)[1]
    return replace(event, session_id=session if agent is None else AgentSession(session, agent))


def _chunk(begin: int, heard: list[tuple[int, Event]], end: int) -> Chunk:
    """Rows from *begin* to before *end*; what a mapper held back may be of rows before."""
    heard.sort(key=lambda one: one[0])
    ats, events = [at for at, _ in heard], tuple(event for _, event in heard)

    def origin(index: int) -> Origin:
        return Origin(ats[index] + 1, 0)

    return Chunk(Batch(events, ats), origin, lambda: range(begin + 1, end + 1), (range(begin, end), lambda: events))
