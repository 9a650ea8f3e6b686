"""Run pytest with the plugin in a folder of its own."""

import hypothesis
import pytest

import turncheck.conformance.verify.verification  # noqa: F401 - or each pytest in this process would import it anew


@pytest.fixture
def ran(pytester):
    """Run pytest on a test module of this text: ``ran(text, *options)``."""

    def ran(text, *options):
        pytester.makepyfile(test_it=f"from turncheck.conformance.testing import *\n{text}")
        run = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        return run("-p", "no:benchmark", "-p", "no:cov", "-rA", *options)

    yield ran
    hypothesis.core.global_force_seed = None
    hypothesis.settings.load_profile("default")
