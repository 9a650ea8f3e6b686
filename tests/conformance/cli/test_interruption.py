"""An interrupt is heard wherever it comes."""

import time

import pytest

from turncheck.conformance.cli.interruption import Interruption, interruptible


class Finalized:
    """Something whose finalizer is interrupted, which Python swallows."""

    def __del__(self):
        raise KeyboardInterrupt


def test_an_interrupt_that_a_finalizer_swallows_is_raised_again(capfd):
    with pytest.raises(KeyboardInterrupt), interruptible(Interruption()):  # noqa: PT012 - it is raised amid the loop
        Finalized()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            pass
    assert "Exception ignored" not in capfd.readouterr().err
