"""An adapter with variants of different roles, which no one verdict is about: a runtime, and a projector."""

from typing import ClassVar

from null_runtime import NullRuntime
from turncheck_kit import serve


class TwoRoles(NullRuntime):  # type: ignore[misc]  # found by path
    """Its variant ``ui`` projects logs."""

    implementation: ClassVar = {"name": "two-roles", "version": "1.0", "language": "python"}
    variants: ClassVar = {"api": {}, "ui": {"roles": ["projector"], "capabilities": [], "policies": {}}}


if __name__ == "__main__":
    serve(TwoRoles())
