"""What speaks with an implementation, or reads what one left behind: recorded logs, processes, named targets."""

import turncheck.model  # noqa: F401  # pyright: ignore[reportUnusedImport] - it knows the old names
