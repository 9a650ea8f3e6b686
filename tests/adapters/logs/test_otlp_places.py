"""What is remembered of the keys of attributes: of those that change from span to span, a bounded part."""

from turncheck.adapters.logs.formats.otlp.spread import Places


def of_message(number: int) -> str:
    return f"llm.input_messages.{number}.message.role"


def test_keys_of_no_message_leave_those_of_messages_room() -> None:
    places = Places()
    assert all(places[f"llm.prompt_template.variables.{number}"] is None for number in range(10_000))
    assert places[of_message(0)] is not None
    assert of_message(0) in places
    assert len(places) < 1000


def test_keys_of_messages_leave_those_of_no_message_room() -> None:
    places = Places()
    assert all(places[of_message(number)] is not None for number in range(10_000))
    assert places["session.id"] is None
    assert "session.id" in places
    assert len(places) < 10_000


def test_a_long_key_is_not_remembered() -> None:
    places = Places()
    assert places["llm." + "x" * 1000] is None
    assert not places
