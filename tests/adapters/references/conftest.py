"""A conversation in memory, which others replace by their own runtime."""

import pytest

from turncheck.adapters.references.conversation import ConversationTarget
from turncheck.conformance.generation.situations import TOOLS
from turncheck.model.core.stimuli import ResetOptions


@pytest.fixture
def runtime():
    with ConversationTarget() as target:
        target.reset(ResetOptions(tools=TOOLS))
        yield target
