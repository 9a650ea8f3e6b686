"""Flows of frames as the reference backend emits them: by hand, and generated, in both dialects."""

from hypothesis import strategies as st

from turncheck.conformance.generation.flows import Flow, Iteration, frames_of


def flow(*iterations, nested=False, **dialect):
    """The frames of one request.

    An iteration is its deltas, its number of calls (the last one has none), and whether its last call fails.
    """
    return frames_of(
        Flow(tuple(Iteration(tuple(deltas), *called) for deltas, *called in iterations), nested, **dialect)
    )


DELTAS = st.lists(st.sampled_from(["ha", "ha ", "well", "\n", "ho"]), max_size=4)


@st.composite
def flows(draw):
    """Whole requests of one to four iterations."""
    calling = draw(st.lists(st.tuples(DELTAS, st.integers(1, 3), st.booleans()), max_size=3))
    names = ("nested", "numbered", "tells_record", "completes")
    return flow(*calling, (draw(DELTAS), 0), **{name: draw(st.booleans()) for name in names})


CLASSIC = flow((["I ", "look."], 1), (["ha", "ha"], 2), (["all ", "well"], 0), nested=True, tells_record=False)
"""The source's story: today's dialect, three iterations, two of them with tools."""
NUMBERED = flow((["ha", "ha"], 2, True), ([], 1), (["well"], 0), numbered=True)
