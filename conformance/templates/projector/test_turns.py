"""Every law on projectors is a test here: `pytest`, or `pytest -k follow-up-fifo`."""

from turncheck.conformance.testing import projector_laws

test_laws = projector_laws("python:turns:project")
