"""The report as one HTML page that needs nothing else.

In come a result and its counterexamples; out goes the page.
Begin with ``page``.
"""

from .page import render

__all__ = ["render"]
