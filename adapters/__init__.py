"""Connections to implementations, and readers of their recorded logs: formats, processes, named targets."""

import turncheck.model  # noqa: F401  # pyright: ignore[reportUnusedImport] - it knows the old names
