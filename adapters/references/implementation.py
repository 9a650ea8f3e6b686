"""The name and version of a reference, as it introduces itself over the protocol."""

from functools import cache

from ..protocol.messages import Implementation


@cache
def implementation(name: str = "turncheck reference") -> Implementation:
    """Name the reference called *name*; its version is turncheck's."""
    from importlib.metadata import version  # noqa: PLC0415 - 15 ms of a start-up that mostly does without

    return Implementation(name, version("turncheck"), "python")
