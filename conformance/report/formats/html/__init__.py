"""The report as one HTML page that loads nothing.

In come a result and its counterexamples; out goes the page.
Begin with ``page``, then ``failure``, which lays out one counterexample.
"""

from .page import render

__all__ = ["render"]
