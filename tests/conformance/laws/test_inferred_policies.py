"""Policies that a runtime does not declare: they are inferred from what it shows, and then held."""

# mypy: disable-error-code="misc, has-type"

import pytest
from msgspec.structs import replace
from runtimes.held import FEW, HISTORIES, verified
from runtimes.right import Right, Undeclared

from turncheck.adapters.protocol.messages import HISTORY_POLICIES
from turncheck.conformance.laws.registry import selected

WORDS = 300  # the command's own number of generated words

DEFAULTS = {name: values[0] for name, values in HISTORY_POLICIES.items()} | {"maxResultCharacters": None}


class Silent(Right):
    """It arranges what it shows as it is told, and declares nothing of it."""

    def __init__(self, **given):
        super().__init__(**given)
        self.chosen = {name: given[name] for name in DEFAULTS if name in given}
        kept = {name: value for name, value in self.profile.policies.items() if name not in DEFAULTS}
        self.profile = replace(self.profile, policies=kept)
        self.reset()

    def reset(self, *options):
        step = super().reset(*options)
        self.policies |= getattr(self, "chosen", {})
        return step


@pytest.mark.parametrize("policies", HISTORIES.values(), ids=HISTORIES)
def test_what_it_does_not_declare_is_inferred_and_held(policies):
    result, _ = verified(Silent(**policies), selected(["runtime"], ["history-whole"]), words=0)
    assert result.inferred == {name: value for name, value in policies.items() if name in DEFAULTS}
    assert [law.verdict for law in result.laws] == ["pass"]


@pytest.mark.parametrize("policies", HISTORIES.values(), ids=HISTORIES)
def test_what_it_declares_is_not_inferred_and_breaks_the_law_where_it_does_otherwise(policies):
    declared = {name: DEFAULTS[name] for name in policies if name in DEFAULTS}

    class Claims(Silent):
        def __init__(self, **given):
            super().__init__(**given)
            self.profile = replace(self.profile, policies=self.profile.policies | declared)

    result, _ = verified(Claims(**policies), selected(["runtime"], ["history-whole"]), words=0, shrink=False)
    assert result.inferred == {}
    assert [law.verdict for law in result.laws] == ["fail"]


UNSAID = {
    "one": {"steerHandover": "one", "followUpHandover": "one"},
    "all": {"steerHandover": "all", "followUpHandover": "all"},
    "steers one by one": {"steerHandover": "one", "followUpHandover": "all"},
    "follow-ups one by one": {"steerHandover": "all", "followUpHandover": "one"},
}


class NowOneNowAll(Undeclared):
    """It hands over one steer after tools, and all where its run would end."""

    def handover(self, policy):
        return "one" if self.called and policy == "steerHandover" else super().handover(policy)


class OneAtFirst(Undeclared):
    """It hands over one steer at a time for three runs, and all from then on."""

    def reset(self, *options):
        self.runs = 0
        return super().reset(*options)

    def start(self, root):
        self.runs += 1
        super().start(root)

    def handover(self, policy):
        return "one" if self.runs <= 3 and policy == "steerHandover" else super().handover(policy)


@pytest.mark.parametrize("policies", UNSAID.values(), ids=UNSAID)
def test_a_handover_that_it_does_not_declare_is_inferred_and_held(policies):
    result, _ = verified(Undeclared(**policies), selected(["runtime"], ["handed-over-as-declared"]), words=FEW)
    assert (result.inferred, [law.verdict for law in result.laws]) == (dict(sorted(policies.items())), ["pass"])


def test_a_handover_that_is_inferred_breaks_the_law_where_it_is_another_one_later():
    laws = selected(["runtime"], ["handed-over-as-declared"])
    result, _ = verified(OneAtFirst(), laws, words=WORDS, fail_fast=True, shrink=False)
    assert (result.inferred["steerHandover"], [law.verdict for law in result.laws]) == ("one", ["fail"])


def test_a_handover_that_is_not_always_the_same_is_not_inferred_and_not_judged():
    result, _ = verified(NowOneNowAll(), selected(["runtime"], ["handed-over-as-declared"]), words=FEW)
    assert (result.inferred, [law.verdict for law in result.laws]) == ({"followUpHandover": "one"}, ["pass"])


def test_messages_that_are_shown_as_one_text_tell_of_no_handover():
    class OneText(Undeclared):
        def shown(self):
            return [replace(one, ids=()) for one in super().shown()]

    runtime = OneText(adjacent="merged", followUpHandover="all")
    result, _ = verified(runtime, selected(["runtime"], ["handed-over-as-declared"]), words=FEW)
    assert (result.inferred, [law.verdict for law in result.laws]) == ({}, ["inconclusive"])
