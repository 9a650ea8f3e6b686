"""Helper libraries for adapters of runtimes: one file for Python, one for JavaScript, neither with dependencies."""
