"""The conformance suite: laws, generation, the runner, verdicts, and the command line.

Importing this package costs nothing; what needs Hypothesis or `transitions` imports it where it runs.
"""

import turncheck.model  # noqa: F401  # pyright: ignore[reportUnusedImport] - it knows the old names
