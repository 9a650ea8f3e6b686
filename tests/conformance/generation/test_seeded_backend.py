"""The backend uses Hypothesis' internals, which may change."""

from importlib.metadata import version

TRIED = "6.170"


def test_hypothesis_is_of_the_version_that_was_tried():
    found = version("hypothesis")
    assert found.rpartition(".")[0] == TRIED, (
        f"Hypothesis {found} was not tried: does conformance/generation/seeded_backend.py still give the same words "
        "under pytest and outside of it? Then raise TRIED"
    )
