"""Flows of frames as the reference backend emits them: by hand, and generated, in both dialects."""

from hypothesis import strategies as st

from turncheck.adapters.references.event_flow.backend import Backend
from turncheck.adapters.references.event_flow.emission import Dialect
from turncheck.model.machines.chat_log import Heard


def flow(*iterations, always_completes=True, dialect=Dialect()):  # noqa: B008 - frozen
    """The frames of one request. An iteration is its deltas and its number of calls; the last one has none."""
    backend = Backend(max_tool_iterations=9, always_completes=always_completes, dialect=dialect)
    backend.hear("chat", Heard(id="u1", text="one"))
    for number, (deltas, calls) in enumerate(iterations):
        for place, delta in enumerate(deltas):
            backend.hear("delta", Heard(text=delta, begins=int(not place)))
        names = [f"c{number}.{call}" for call in range(calls)]
        for name in names:
            backend.hear("tool-call", Heard(call_id=name, tool="read", arguments={"path": name}))
        backend.hear("response-end", Heard(usage={"total": 10 + number}))
        for name in names:
            backend.hear("tool-result", Heard(call_id=name, output=f"result of {name}"))
    return tuple(backend.frames)


DIALECTS = st.builds(Dialect, st.sampled_from(["nested", "top-level"]), st.booleans(), st.booleans())
DELTAS = st.lists(st.sampled_from(["ha", "ha ", "well", "\n", "ho"]), max_size=4)


@st.composite
def flows(draw, dialects=DIALECTS):
    """Whole requests of one to four iterations."""
    calling = draw(st.lists(st.tuples(DELTAS, st.integers(1, 3)), max_size=3))
    return flow(*calling, (draw(DELTAS), 0), always_completes=draw(st.booleans()), dialect=draw(dialects))


NESTED = Dialect("nested", numbered=False, tells_record=False)
CLASSIC = flow((["I ", "look."], 1), (["ha", "ha"], 2), (["all ", "well"], 0), dialect=NESTED)
"""The source's story: today's dialect, three iterations, two of them with tools."""
NUMBERED = flow((["ha", "ha"], 1), ([], 1), (["well"], 0), dialect=Dialect("top-level", numbered=True))
