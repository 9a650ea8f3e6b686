"""Every law on a runtime can fail: wrong runtimes, each with the law that names its fault. No right one fails."""

# mypy: disable-error-code="misc, has-type"

import inspect

import pytest
from breaking import doubles
from msgspec.structs import replace
from runtimes import attended, compacting, concurrent, deciding, delegating, hosting, lasting, limited, pausing, wrong
from runtimes.doubles import MODULES
from runtimes.right import Right, Undeclared
from runtimes.target import CAPABILITIES

from turncheck.adapters.protocol.messages import HISTORY_POLICIES
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime

ALL = selected(["runtime"])
WORDS = 300  # the command's own number of generated words
FEW = 6
"""Enough for the right ones: each law that can has found its evidence after 5; teeth/variants has them at length."""
MORE = 20
"""Where what a law looks for is rare: without tools, a run to the limit of its rounds is the 15th."""
RARELY = {"retrying", "without tools", "snapshots of a run"}
"""Of those with runs side by side or with clients: they seldom take several steers, or reach a limit."""
HASH_SEED = 4321

TOLD = {name: (module, broken) for module in MODULES for name, broken in doubles(module)}
"""Wrong runtime → its module, and the laws that it breaks with their clauses, the one that names its fault first."""
EVERY = [(name, law) for name, (_, broken) in TOLD.items() for law in broken if law != "equals-model"]
DECIDED = {law for module in (deciding, pausing) for _, broken in doubles(module) for law in broken}
ATTENDED = {law for _, broken in doubles(attended) for law in broken}
COMPACTED = {law for _, broken in doubles(compacting) for law in broken}
LIMITED = {law for _, broken in doubles(limited) for law in broken}
SIDE_BY_SIDE = {law.name for law in ALL if "policy busy=concurrent" in law.needs}
DELEGATED = {law.name for law in ALL if "sub-agents" in law.needs}
HOSTED = {law for _, broken in doubles(hosting) for law in broken}


NO_VERDICT = {"Unsettled", "Dies", "EverySeventhRunEndsTwice"}
"""Not a law's business alone: test_verifying_runs.py has them."""

SHORT = 6
LONG = {
    "EighthItemIsLost": 10,
    "HistoryHasTenPlaces": 10,
    "AutoApprovesTheSecond": 7,
    "KeepsAResultWithoutItsCall": 7,
    "SumsUpTheNewAlone": 10,
}
"""How many stimuli a counterexample may have; a fault at depth needs its depth."""

RIGHT = {
    "serial": {},
    "parallel": {"tools": "parallel"},
    "rejecting": {"busy": "reject"},
    "steering": {"busy": "steer"},
    "after a call": {"steerLands": "after-call"},
    "after a call, parallel": {"steerLands": "after-call", "tools": "parallel"},
    "released": {"abortEnds": "when-released"},
    "released, parallel": {"abortEnds": "when-released", "tools": "parallel"},
    "retrying once": {"retries": 1},
    "retrying three times": {"retries": 3},
    "retrying, as the machine does": {"retries": 2, "machine": "interaction"},
    "bounded": {"maxRounds": 3},
    "holding": {"queueAfterInterrupted": "hold", "queueAfterError": "hold"},
    "dropping": {"queueAfterInterrupted": "drop", "queueAfterError": "drop"},
    "joining": {"queueAfterInterrupted": "join", "queueAfterError": "join"},
    "joining, one entry": {"queueAfterInterrupted": "join", "queueAfterError": "hold", "adjacent": "merged"},
    "dropping and joining": {"queueAfterInterrupted": "drop", "queueAfterError": "join", "abortEnds": "when-released"},
    "dropping and promoting": {"queueAfterError": "drop"},
    "dropping and holding": {"queueAfterInterrupted": "drop", "queueAfterError": "hold", "abortEnds": "when-released"},
    "repeated ids kept": {"repeated": "kept"},
    "repeated ids kept, parallel": {"repeated": "kept", "tools": "parallel"},
    "without model input": {"without": ("model-input",)},
    "without tools": {"without": ("tools", "tool-failure", "raw-arguments", "call-ids", "deaf")},
}
HANDED_OVER = {
    "one steer": {"steerHandover": "one"},
    "one steer, after a call": {"steerHandover": "one", "steerLands": "after-call", "unread": "later"},
    "all follow-ups": {"followUpHandover": "all"},
    "all follow-ups, steering": {"followUpHandover": "all", "busy": "steer", "queueAfterInterrupted": "hold"},
    "one steer, all follow-ups": {"steerHandover": "one", "followUpHandover": "all", "adjacent": "merged"},
    "one steer, all follow-ups joining": {
        "steerHandover": "one",
        "followUpHandover": "all",
        "queueAfterInterrupted": "join",
        "queueAfterError": "drop",
        "unread": "drop",
    },
}
"""How many of several messages one request may show."""
HISTORIES = {
    "aborted, its texts": {"abortedResponse": "texts"},
    "aborted, nothing": {"abortedResponse": "drop"},
    "aborted, nothing, nor its calls": {"abortedResponse": "drop-with-calls", "tools": "parallel"},
    "released, nothing, nor its calls": {"abortedResponse": "drop-with-calls", "abortEnds": "when-released"},
    "failed, its texts": {"failedResponse": "texts", "retries": 1},
    "failed, nothing": {"failedResponse": "drop", "retries": 1},
    "unread later": {"unread": "later"},
    "unread nowhere": {"unread": "drop", "abortEnds": "when-released"},
    "texts first": {"itemOrder": "texts-first"},
    "texts last": {"itemOrder": "texts-last"},
    "results as called": {"resultOrder": "as-called", "tools": "parallel"},
    "results paired": {"resultOrder": "paired", "tools": "parallel"},
    "merged": {"adjacent": "merged"},
    "failures told": {"failures": "told"},
    "failures in its own words": {"failures": "own-words"},
    "long results cut": {"maxResultCharacters": 3000, "tools": "parallel"},
    "all": {
        "abortedResponse": "drop",
        "failedResponse": "texts",
        "unread": "later",
        "itemOrder": "texts-first",
        "resultOrder": "as-called",
        "adjacent": "merged",
        "tools": "parallel",
        "steerLands": "after-call",
    },
}
"""What may be shown in more than one way."""
CONVERSATION = {
    "serial": {"machine": "conversation", "busy": "reject", "retries": 3},
    "steering": {"machine": "conversation", "busy": "steer", "queueAfterInterrupted": "hold"},
    "released": {"machine": "conversation", "abortEnds": "when-released", "tools": "parallel"},
}
BARE = {"rounds-bounded", "capabilities-honest", "run-boundary-equivalence"}
"""What a runtime that can do nothing but answer gives no evidence of."""


def verified(runtime, laws=ALL, **options):
    return verify_runtime(runtime, laws, hash_seed=HASH_SEED, **options)


def without_pass(result):
    return {law.law for law in result.laws if law.verdict != "pass"}


@pytest.mark.parametrize(("name", "law"), EVERY)
def test_the_fault_breaks_the_law_that_names_it_in_a_short_word(name, law):
    module, _ = TOLD[name]
    runtime = getattr(module, name)()
    result, counterexamples = verified(runtime, selected(["runtime"], [law]), words=WORDS, fail_fast=True)
    assert [found.verdict for found in result.laws] == ["fail"]
    assert len(counterexamples[law].word.stimuli) <= LONG.get(name, SHORT)


def test_every_law_has_a_double():
    assert {law.name for law in ALL} == {law for _, law in EVERY}


def test_every_wrong_runtime_is_held_to_its_law():
    own = {name for name, value in vars(wrong).items() if inspect.isclass(value) and value.__module__ == wrong.__name__}
    assert own - {"Late"} == {*dict(doubles(wrong)), *NO_VERDICT}


def test_every_wrong_runtime_says_its_symptom():
    assert [name for name, _ in doubles(wrong) if not vars(wrong)[name].__doc__] == []


def in_twos(each):
    """Join each set of policies with the next one that says nothing of the same: an alarm at either is one at both."""
    alone = {name: policies for name, policies in each.items() if not policies or "without" in policies}
    left, found = {name: policies for name, policies in each.items() if name not in alone}, dict(alone)
    while left:
        name, policies = next(iter(left.items()))
        other = next((one for one in left if not left[one].keys() & policies.keys()), None)
        found[name if other is None else f"{name}; {other}"] = policies | left.get(other, {})
        left = {one: left[one] for one in left if one not in (name, other)}
    return found


CHOICES = in_twos(RIGHT | HANDED_OVER | HISTORIES)


@pytest.mark.parametrize("policies", CHOICES.values(), ids=CHOICES)
def test_the_right_runtime_breaks_no_law_and_passes_on_evidence(policies):
    result, counterexamples = verified(Right(**policies), words=MORE if "without" in policies else FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert [law.law for law in result.laws if law.verdict == "pass" and not law.evidence.observed] == []


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


@pytest.mark.parametrize("policies", CONVERSATION.values(), ids=CONVERSATION)
def test_a_right_conversation_passes_every_law(policies):
    result, counterexamples = verified(Right(**policies), words=FEW)
    assert counterexamples == {}
    assert (
        without_pass(result)
        - {
            "equals-machine",
            "system-shown",
            *HOSTED,
            *DECIDED,
            *COMPACTED,
            *LIMITED,
            *ATTENDED,
            *SIDE_BY_SIDE,
            *DELEGATED,
        }
        == set()
    )  # where it queues, no machine does so: nothing to compare


def test_a_right_host_of_sessions_passes_every_law():
    result, counterexamples = verified(hosting.Hosting(), words=FEW)
    assert counterexamples == {}
    assert without_pass(result) == {
        *("aborted-text-dropped", "equals-machine", "system-shown"),
        *DECIDED,
        *COMPACTED,
        *LIMITED,
        *ATTENDED,
        *SIDE_BY_SIDE,
        *DELEGATED,
    }


LIMITS = {
    "backing off": Right(retries=3, backoff={"base": 1, "cap": 3}),
    "below a second": Right(retries=3, backoff={"base": 0.5}, tools="parallel"),
    "jittered": limited.Jittered(),
    "telling the limit": limited.Limited(),
}


@pytest.mark.parametrize("runtime", LIMITS.values(), ids=LIMITS)
def test_a_runtime_that_waits_and_tells_its_limits_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    passed = {law.law for law in result.laws if law.verdict == "pass"}
    assert LIMITED - passed == ({"context-limit-told"} if isinstance(runtime, Right) else set())


BESIDE = {
    "serial": concurrent.Concurrent(),
    "parallel": concurrent.Concurrent(tools="parallel"),
    "what ended beside is seen": concurrent.SeesWhatEndsBeside(),
    "retrying": concurrent.Concurrent(retries=1),
    "without tools": concurrent.Concurrent(without=("tools", "tool-failure", "raw-arguments", "call-ids", "deaf")),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_runtime_with_runs_side_by_side_breaks_no_law_and_passes_on_evidence(name):
    result, counterexamples = verified(BESIDE[name], words=MORE if name in RARELY else FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert {law.law for law in result.laws if law.verdict == "skipped"} & SIDE_BY_SIDE == set()


DELEGATORS = {
    "serial": delegating.Delegating(),
    "parallel": delegating.Delegating(tools="parallel"),
    "steering": delegating.Delegating(busy="steer"),
    "retrying": delegating.Delegating(retries=1),
    "detached": delegating.Detached(),
    "detached, and stopped": delegating.DetachedAndStopped(tools="parallel"),
    "without an abort": delegating.Delegating(without=("abort", "deaf")),
    "sub-agents of sub-agents": delegating.Delegating(tools="parallel", subAgentDepth=2),
    "no sub-agents of sub-agents": delegating.Delegating(busy="reject", subAgentDepth=1, subAgentMessages="refused"),
    "messages refused": delegating.RefusesMessagesToChildren(),
    "messages go on": delegating.GoesOnWithChildren(),
}


@pytest.mark.parametrize("runtime", DELEGATORS.values(), ids=DELEGATORS)
def test_a_runtime_with_sub_agents_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert "children-answered-once" in {law.law for law in result.laws if law.verdict == "pass"}


LASTING = {
    "parallel": lasting.Lasting(tools="parallel", subAgentDepth=2),
    "detached": lasting.Lasting(subAgents="detached"),
    "going on": lasting.GoesOnAfterAKill(tools="parallel"),
    "saying nothing": lasting.SaysNothingAtARestart(queueAfterInterrupted="hold"),
}


@pytest.mark.parametrize("runtime", LASTING.values(), ids=LASTING)
def test_a_runtime_whose_sub_agents_a_kill_cuts_breaks_no_law_and_passes_on_evidence(runtime):
    laws = selected(["runtime"], ["restart-[rs]*", "children-*"])
    result, counterexamples = verified(runtime, laws, words=0)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert "restart-reaches-children" in {law.law for law in result.laws if law.verdict == "pass"}


PARTLY = {
    "failures in words": delegating.TellsFailuresInWords(),
    "results with the batch": delegating.ResultsWithTheBatch(),
    "ends that are inferred": delegating.InfersItsEnds(),
}
"""Right in what they do of sub-agents; of other laws they may break some."""


@pytest.mark.parametrize("runtime", PARTLY.values(), ids=PARTLY)
def test_no_law_on_sub_agents_alarms_at_what_is_the_runtimes_choice(runtime):
    laws = selected(["runtime"], [*DELEGATED, "tools-as-declared"])
    _, counterexamples = verified(runtime, laws, words=FEW)
    assert counterexamples == {}


def test_a_sub_agent_that_ends_with_its_caller_is_cut_and_awaits_nothing():
    laws = selected(["runtime"], ["run-ends-once", "answered-runs-complete", "run-never-stuck"])
    _, counterexamples = verified(delegating.FailureCancelsTheOthers(), laws, words=FEW)
    assert counterexamples == {}


def test_a_sub_agent_that_fails_with_its_caller_was_not_aborted():
    laws = selected(["runtime"], ["abort-interrupts", "abort-ends-as-declared"])
    _, counterexamples = verified(delegating.FailuresGoAllTheWayUp(), laws, words=FEW)
    assert counterexamples == {}


DECIDERS = {
    "serial": deciding.Deciding(),
    "parallel": deciding.Deciding(tools="parallel"),
    "results as called": deciding.Deciding(tools="parallel", resultOrder="as-called"),
    "steering": deciding.Deciding(busy="steer"),
    "a steer instead": deciding.GoesOnInstead(),
    "asks before anything runs": deciding.AsksBeforeAnythingRuns(),
    "malformed calls unasked": deciding.AnswersMalformedCallsUnasked(),
    "a person only": deciding.Deciding(without=("client-tools",)),
}


@pytest.mark.parametrize("runtime", DECIDERS.values(), ids=DECIDERS)
def test_a_runtime_that_asks_about_calls_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert {law.law for law in result.laws if law.law in DECIDED and law.verdict == "skipped"} <= {
        *("client-result-once", "pause-outlives-restart")
    }


PAUSERS = {
    "serial": pausing.Pausing(),
    "parallel": pausing.Pausing(tools="parallel"),
    "steering": pausing.Pausing(busy="steer"),
    "a pause is as open as any run": pausing.EndsPauses(),
}


@pytest.mark.parametrize("runtime", PAUSERS.values(), ids=PAUSERS)
def test_a_runtime_whose_pauses_a_restart_keeps_or_ends_as_declared_breaks_no_law(runtime):
    laws = selected(["runtime"], ["pause-*", "restart-*", "idle-restart-*", "decisions-*"])
    result, counterexamples = verified(runtime, laws, words=FEW)
    assert counterexamples == {}
    kept = runtime.profile.policies["pauseAfterRestart"] == "kept"
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert ("pause-outlives-restart" in {law.law for law in result.laws if law.verdict == "pass"}) == kept


COMPACTORS = {
    "giving way to messages": compacting.Compacting(),
    "dropping": compacting.Compacting(compactionFails="drop-prefix", compactionRetries=2),
    "retrying runs too": compacting.Compacting(retries=2),
    "keeping the last run": compacting.KeepsTheLastRun(tools="parallel", resultOrder="as-called"),
    "keeping so much text": compacting.KeepsSoMuchText(),
    "summing up what is new": compacting.SumsUpWhatIsNew(),
    "one entry": compacting.KeepsTheLastRun(adjacent="merged"),
    "as a message": compacting.SummarisesAsTheUser(adjacent="merged"),
    "messages wait": compacting.LetsMessagesWait(busy="reject"),
    "long histories": compacting.CompactsLongHistories(),
    "long histories, dropping": compacting.CompactsLongHistories(compactionFails="drop-prefix"),
    "sessions that are kept": compacting.CompactingHost(),
}


@pytest.mark.parametrize("runtime", COMPACTORS.values(), ids=COMPACTORS)
def test_a_runtime_that_compacts_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert {law.law for law in result.laws if law.law in COMPACTED and law.verdict == "skipped"} == set()


ATTENDANTS = {
    "telling events": attended.Attended(),
    "telling events, parallel": attended.Attended(tools="parallel", steerLands="after-call"),
    "aborting": attended.AbortsWhenLeft(),
    "aborting, holding": attended.AbortsWhenLeft(queueAfterInterrupted="hold", busy="steer"),
    "keeping connections alive": attended.KeepsConnectionsAlive(),
    "snapshots of all": attended.Snapshots(),
    "snapshots of a run": attended.ShowsTheLastRun(busy="reject", retries=1),
    "snapshots for ever": attended.ShowsAllAgain(),
}


@pytest.mark.parametrize("name", ATTENDANTS)
def test_a_runtime_that_tells_its_clients_breaks_no_law_and_passes_on_evidence(name):
    result, counterexamples = verified(ATTENDANTS[name], words=MORE if name in RARELY else FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert {law.law for law in result.laws if law.law in ATTENDED and law.verdict == "skipped"} == set()


def test_a_write_that_fails_with_the_next_message_is_no_fault_of_the_session():
    result, counterexamples = verified(
        hosting.WritesMessagesFirst(), selected(["runtime"], ["store-faults"]), words=FEW
    )
    assert counterexamples == {}
    assert [law.verdict for law in result.laws] == ["pass"]


def test_who_can_do_nothing_but_answer_breaks_no_law():
    result, counterexamples = verified(Right(without=CAPABILITIES), words=FEW)
    assert counterexamples == {}
    assert {law.law for law in result.laws if law.verdict == "inconclusive"} <= BARE
