"""The conversation machine: its rows, and the clauses and Decisions one by one."""

from copy import deepcopy

import pytest

from turncheck.adapters.references.conversation.core import Conversation
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.declaration.lint import lint
from turncheck.model.machines.conversation import BACKOFF, DEFAULTS, RETRIES, SPEC, Input

LIMIT = DEFAULTS["limit"]
ITEM = {"kind": "assistant", "text": "yes"}
UNDER_WAY = {"note", "measure", "open_slot", "alone", "join_slot", "spawns"}
TELLS = {"refuse", "welcome"}


# ---- telling a conversation ----


def busy(*letters, tables=DEFAULTS):
    """Return a conversation that took *letters* after a first message: names, or (name, fields)."""
    conversation = Conversation(tables)
    tell(conversation, "user", payload={"text": "go"})
    for letter in letters:
        name, fields = (letter, {}) if isinstance(letter, str) else letter
        tell(conversation, name, **fields)
    return conversation


def tell(conversation, letter, **fields):
    """Give an answer to the newest request, unless *fields* name another one; return the outputs."""
    told = {"answers": conversation.registers["asked"]} | fields
    if letter in {"text", "tool-call", "spawn-call"}:
        call = {"kind": "tool-call", "callId": letter[0], "tool": letter}
        told = {"payload": ITEM if letter == "text" else call} | told
    if letter == "tool-result":
        told = {"call": conversation.registers["running"], "payload": {"output": "done"}} | told
    return conversation.take(letter, Input(**told))[0]


def names(outputs):
    return [output.name for output in outputs]


def kinds(log):
    return [event.get("kind") or event.get("reason") or event["type"] for event in log]


END, MORE = ("model-stop", {"reason": "end-turn"}), ("model-stop", {"reason": "length"})


# ---- the rows ----


def test_it_is_sound() -> None:
    assert lint(SPEC) == []


@pytest.mark.parametrize("row", SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_what_changes_is_saved_before_all_else(row) -> None:  # BED-007a
    done = [name for name in row.effects if name not in UNDER_WAY | TELLS]
    assert done[:1] == ["save"][: len(done)]


# ---- the clauses and Decisions ----


def test_the_same_letters_give_the_same_outputs_and_events() -> None:  # BED-001b
    word = [
        ("user", Input(payload={"text": "go"})),
        ("text", Input(1, payload=ITEM)),
        ("model-stop", Input(1, reason="length")),
    ]
    one, other = Conversation(), Conversation()
    assert [one.take(*letter) for letter in word] == [other.take(*letter) for letter in word]


def test_a_message_while_idle_asks_the_model() -> None:  # BED-002a
    conversation = Conversation()
    assert names(tell(conversation, "user", payload={"text": "go"}))[-1] == "request"
    assert conversation.state == "awaiting"


def test_a_text_that_ends_the_turn_leaves_an_idle_agent() -> None:  # BED-003a
    assert busy("text", END).state == "idle"


@pytest.mark.parametrize("letters", [[], ["text"], ["tool-call", END]], ids=["asked", "partial", "executing"])
def test_a_cancelled_agent_is_idle(letters) -> None:  # BED-005b, BED-005h
    assert busy(*letters, "cancel").state == "idle"


def test_a_cancel_drops_the_request_in_its_own_step() -> None:  # BED-005a
    assert names(tell(busy("text"), "cancel")) == ["save", "drop", "stop"]


def test_a_message_while_busy_is_refused_and_told_of_the_cancel() -> None:  # BED-002c, BED-002d
    (refusal,) = tell(busy(), "user")
    assert refusal.arguments == ("agent is busy; the operation under way can be cancelled",)


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (6, 30)])
def test_the_delay_doubles_up_to_the_cap(attempt, seconds) -> None:  # BED-D1
    assert BACKOFF.delay(attempt) == seconds


def test_three_retries_follow_the_first_attempt_each_a_new_request() -> None:  # BED-D1, BED-006a, BED-006b, BED-006d
    conversation = busy()
    asked = []
    for _ in range(RETRIES):
        assert names(tell(conversation, "retryable-failure"))[-1] == "schedule"
        assert conversation.state == "awaiting"
        asked.append(tell(conversation, "retry-due")[-1].arguments)
    assert len(set(asked)) == RETRIES
    assert names(tell(conversation, "retryable-failure")) == ["save", "stop"]
    assert conversation.state == "error"


def test_when_the_retries_are_used_up_it_says_so_and_what_to_do() -> None:  # BED-006e
    conversation = busy(*["retryable-failure", "retry-due"] * RETRIES, "retryable-failure")
    so, what_to_do = conversation.log[-1]["detail"].split(": ")
    assert so == "retries exhausted"
    assert "check the connection, then send a message" in what_to_do


def test_each_request_has_its_own_retries() -> None:
    conversation = busy("retryable-failure", "retry-due", MORE)
    assert conversation.registers["attempts"] == 0


def test_a_fatal_failure_ends_with_its_own_message() -> None:  # BED-006f, BED-006g
    conversation = busy(("fatal-failure", {"message": "the key is wrong"}))
    assert (conversation.state, conversation.log[-1]["detail"]) == ("error", "the key is wrong")


def test_a_message_in_error_goes_on() -> None:  # BED-006h
    conversation = busy("fatal-failure", "user")
    assert conversation.state == "awaiting"


@pytest.mark.parametrize(
    "letter", ["text", "tool-call", "spawn-call", "usage", "model-stop", "fatal-failure", "retry-due"]
)
def test_an_answer_after_its_cancel_has_no_effect(letter) -> None:  # BED-D2
    conversation = busy()
    old = conversation.registers["asked"]
    tell(conversation, "cancel")
    assert tell(conversation, letter, answers=old) == ()
    tell(conversation, "user")
    before = deepcopy(conversation.registers)
    assert tell(conversation, letter, answers=old) == ()
    assert conversation.registers == before


def test_a_result_after_its_cancel_has_no_effect() -> None:  # BED-D2
    conversation = busy("tool-call", END)
    old = conversation.registers["asked"]
    tell(conversation, "cancel")
    for letter in ("user", "tool-call"):
        tell(conversation, letter)
    tell(conversation, "model-stop", reason="tool-use")
    assert tell(conversation, "tool-result", answers=old) == ()


@pytest.mark.parametrize("letters", [[END], ["fatal-failure"]], ids=["idle", "error"])
def test_a_cancel_has_no_effect_while_nothing_runs(letters) -> None:  # BED-D3
    conversation = busy(*letters)
    state = conversation.state
    assert tell(conversation, "cancel") == ()
    assert conversation.state == state


@pytest.mark.parametrize(
    ("letter", "reason"), [(END, "completed"), ("cancel", "interrupted"), ("fatal-failure", "error")]
)
def test_each_end_is_a_stop_of_its_own_reason(letter, reason) -> None:  # BED-D4
    assert busy("text", letter).log[-1]["reason"] == reason


@pytest.mark.parametrize("letter", ["cancel", "fatal-failure", "retryable-failure"])
def test_nothing_of_a_response_that_was_cut_is_kept(letter) -> None:  # BED-D4, BED-005c
    assert "assistant" not in kinds(busy("text", "tool-call", letter).log)


def test_an_empty_response_is_valid() -> None:  # BED-D5
    assert kinds(busy(END).log) == ["user-message", "model-request", "completed"]


def test_calls_win_over_the_end_of_the_turn() -> None:  # BED-D5, BED-003c
    assert busy("tool-call", END).state == "executing"


def test_a_response_that_was_too_long_is_continued_by_a_new_request() -> None:  # BED-D5, BED-003e
    conversation = busy("text", MORE)
    assert kinds(conversation.log) == ["user-message", "model-request", "assistant", "model-request"]
    assert conversation.state == "awaiting"


def test_the_limit_is_told_once_an_upward_crossing() -> None:  # BED-D6
    conversation = busy()
    told = [
        "notify" in names(tell(conversation, "usage", tokens=tokens))
        for tokens in (LIMIT - 1, LIMIT, LIMIT + 1, LIMIT - 1, LIMIT)
    ]
    assert told == [False, True, False, False, True]


def test_tools_run_one_after_the_other_in_order() -> None:  # BED-003d, BED-004a, BED-004b, BED-004c
    conversation = busy("tool-call", "tool-call", END)
    first = conversation.registers["running"]
    assert names(tell(conversation, "tool-result"))[-1] == "run"
    assert conversation.registers["running"] > first
    assert names(tell(conversation, "tool-result"))[-1] == "request"


def test_consecutive_spawn_calls_are_one_slot_and_others_wait() -> None:  # BED-D8
    conversation = busy("spawn-call", "spawn-call", "tool-call", "spawn-call")
    runs = [output.arguments[1:] for output in tell(conversation, *END[:1], **END[1]) if output.name == "run"]
    for call in (1, 2, 3):
        outputs = tell(conversation, "tool-result", call=call)
        runs += [output.arguments[1:] for output in outputs if output.name == "run"]
    assert runs == [(1, 1), (3, -1), (4, 0)]


def test_results_of_sub_agents_are_returned_when_all_have_one() -> None:  # BED-008e, BED-008f
    conversation = busy("spawn-call", "spawn-call", END)
    assert names(tell(conversation, "tool-result", call=2)) == ["save"]
    assert names(tell(conversation, "tool-result", call=1)) == ["save", "result", "result", "request"]


def test_a_sub_agent_that_submits_twice_counts_once() -> None:  # BED-008d
    conversation = busy("spawn-call", "spawn-call", END, ("tool-result", {"call": 2}))
    assert tell(conversation, "tool-result", call=2) == ()


def test_a_sub_agent_cannot_spawn_side_by_side() -> None:  # BED-009b
    conversation = busy("spawn-call", "spawn-call", END, tables={**DEFAULTS, "kind": "sub-agent"})
    assert len(conversation.registers["calls"]) == 1


def test_a_cancel_asks_for_the_kill_in_its_own_step() -> None:  # BED-D9
    assert names(tell(busy("tool-call", END), "cancel")) == ["save", "kill", "skip", "stop"]


def test_a_cancel_keeps_what_sub_agents_submitted_and_answers_the_rest() -> None:  # BED-005f, BED-005g, BED-D8
    conversation = busy("spawn-call", "spawn-call", "tool-call", END, ("tool-result", {"call": 2}), "cancel")
    results = [event["output"] for event in conversation.log if event["type"] == "tool-result"]
    assert results == ["done", "cancelled while it ran", "cancelled before it started"]


@pytest.mark.parametrize("letters", [[], ["text"], ["tool-call", END]], ids=["asked", "partial", "executing"])
def test_a_restart_in_mid_run_is_an_interruption(letters) -> None:  # BED-D10
    conversation = busy(*letters, "restart")
    assert (conversation.state, conversation.log[-1]) == (
        "idle",
        {"type": "run-stop", "reason": "interrupted", "detail": "restarted"},
    )
    assert project(tuple(map(judge, conversation.log)), Policies()).anomalies == ()


def test_a_restart_leaves_the_error_behind() -> None:  # BED-007b
    assert busy("fatal-failure", "restart").state == "idle"


def test_a_call_id_that_comes_twice_in_a_run_gets_a_name_of_its_own() -> None:  # RC-D4
    conversation = busy("tool-call", "tool-call", END)
    assert [event["callId"] for event in conversation.log if event.get("kind") == "tool-call"] == ["t", "t~2"]
