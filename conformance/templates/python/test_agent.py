"""Every law on agent runtimes is a test here: `pytest`, or `pytest -k calls-answered`."""

from turncheck.conformance.testing import runtime_laws

test_laws = runtime_laws("python:adapter:AgentAdapter")
