"""L-S1: each sub-agent of a session is projected by itself, and a log without sub-agents as ever."""

import pickle
from typing import Any

import pytest
from msgspec import json

from turncheck.model.core.decode import Batch, decode_line, decode_lines, judge
from turncheck.model.core.events import AgentSession
from turncheck.model.core.projection import AnomalyError, LogProjector, LogViewProjector, SessionViewProjector, project

USER: Any = {"type": "user-message", "text": "red"}
STOP: Any = {"type": "run-stop", "reason": "completed"}
CALL: Any = {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "read"}
RESULT: Any = {"type": "tool-result", "callId": "c1"}


def of(agent: str, *events: Any) -> list[Any]:
    return [{**event, "agentId": agent} for event in events]


def projected(log: list[Any]) -> Any:
    return project([judge(event) for event in log])


def test_an_agents_events_are_those_that_name_it():
    log = [USER, CALL, *of("a", USER), RESULT, *of("a", STOP), STOP]
    own = projected(log)
    assert (own.cycles[0].stop, own.agents["a"].cycles[0].root, own.agents["a"].cycles[0].stop) == (5, 2, 4)


def test_one_call_id_of_two_agents_is_two_calls():
    own = projected([USER, CALL, *of("a", USER, CALL, RESULT, STOP), RESULT, STOP])
    assert (own.anomalies, own.agents["a"].anomalies) == ((), ())


def test_an_anomaly_of_an_agent_is_its_own():
    own = projected([USER, *of("a", RESULT), STOP])
    assert (own.anomalies, [one.kind for one in own.agents["a"].anomalies]) == ((), ["outside-run"])


def test_a_log_without_agents_has_none():
    assert b"agents" not in json.encode(projected([USER, STOP]))


@pytest.mark.parametrize("agent", [5, None, [], True])
def test_an_agent_that_is_no_string_is_absent(agent):
    assert judge({**USER, "agentId": agent}) == judge(USER)


@pytest.mark.parametrize("event", [USER, {"type": "heartbeat"}, {"type": "run-stop"}, {"type": 5}])
def test_whatever_a_line_is_its_agent_is_read(event):
    assert judge({**event, "agentId": "a", "sessionId": "s"}).session_id == AgentSession("s", "a")


@pytest.mark.parametrize("key", [b"agentId", b"\\u0061gentId"])
def test_bytes_and_values_name_the_same_agent(key):
    line = b'{"type":"user-message","text":"red","' + key + b'":"a"}'
    assert decode_line(line) == decode_lines(line)[0][0] == judge(of("a", USER)[0])


def test_an_agent_is_no_session_of_its_name():
    log = Batch((judge(of("a", USER)[0]), judge({**USER, "sessionId": "a"})), range(2))
    sessions = LogProjector()
    sessions.feed(log)
    assert len(sessions.projectors) == 2


def test_agents_stand_in_their_session():
    log = [*of("a", USER), {**USER, "sessionId": "s"}, {**USER, "sessionId": "s", "agentId": "b"}]
    ledgers = LogViewProjector()
    ledgers.feed(Batch(tuple(map(judge, log)), range(3)))
    found = ledgers.projections()
    assert {name: [*one.agents] for name, one in found.items()} == {None: ["a"], "s": ["b"]}


def test_a_session_of_sub_agents_alone_is_empty_itself():
    ledgers = LogViewProjector()
    ledgers.feed(Batch(tuple(map(judge, of("a", USER))), range(1)))
    assert ledgers.projections()[None].cycles == ()


def test_fed_in_parts_is_fed_at_once():
    log = [judge(event) for event in [USER, *of("a", USER, CALL), CALL, *of("a", RESULT, STOP), RESULT, STOP]]
    session = SessionViewProjector()
    for at, event in enumerate(log):
        session.feed([event], range(at, at + 1))
    assert session.projection() == project(log)


def test_strict_names_the_agent():
    with pytest.raises(AnomalyError, match="outside-run at position 1 of session 's' of agent 'a'"):
        LogProjector(strict=True).feed(
            Batch((judge({**USER, "sessionId": "s"}), judge({**RESULT, "sessionId": "s", "agentId": "a"})), range(2))
        )


def test_strict_looks_at_agents_too():
    with pytest.raises(AnomalyError, match="of agent 'a'"):
        project([judge(event) for event in of("a", STOP)], strict=True)


def test_an_agents_name_survives_a_saved_state():
    name = AgentSession("s", "a")
    assert pickle.loads(pickle.dumps(name)) == name
