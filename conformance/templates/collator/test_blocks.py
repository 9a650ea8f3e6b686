"""Every law on collators is a test here: `pytest`, or `pytest -k one-block-per-call`."""

from turncheck.conformance.testing import collator_laws

test_laws = collator_laws("python:blocks:Blocks")
