"""``project``: the cycles of a recorded log, by session."""

from collections.abc import Callable

from msgspec import structs

from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import MAX_LINE, read_log
from turncheck.model.core.cycles import SessionProjection
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import LogViewProjector


def projected(
    stream: Stream,
    *,
    format_name: str | None = None,
    max_line: int = MAX_LINE,
    policies: Policies = DEFAULT,
    strict: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> list[SessionProjection]:
    """Return the projection of each session of a log, in the order in which the sessions first appear.

    *progress* is called with the number of events read. Raises AnomalyError at the first anomaly where *strict*, and
    what ``read_log`` raises, UnrecognisedError also where the named format does not fit.
    """
    log = read_log(stream, format_name=format_name, max_line=max_line)
    if log.doubt is not None:
        raise UnrecognisedError(log.doubt)
    ledgers = LogViewProjector(policies, strict=strict)
    events = 0
    for chunk in log.chunks:
        events += len(chunk.batch.events)
        progress(events)
        ledgers.feed(chunk.batch)
    return [SessionProjection(name, *structs.astuple(whole)) for name, whole in ledgers.projections().items()]
