"""Which formats there are, and how a log's is found."""

import pytest

from turncheck.adapters.logs.formats.items import NATIVE, Items, said
from turncheck.adapters.logs.formats.registry import FORMATS, UnsupportedFormatError, detect, named
from turncheck.model.core.events import Malformed, RunStop, UnknownType

SESSION = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}


def test_turnchecks_own_format_is_the_last_to_be_asked() -> None:
    assert list(FORMATS) == ["ag-ui", "ai-sdk", "pi", "pi-session", "turncheck"]


def test_only_streams_are_whole() -> None:
    assert [name for name, form in FORMATS.items() if form.whole] == ["ag-ui", "ai-sdk"]


def test_only_streams_have_calls_of_the_client() -> None:
    assert [name for name, form in FORMATS.items() if form.client_calls] == ["ag-ui", "ai-sdk"]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["RUN_STARTED"], "ag-ui"),
        (["CUSTOM", "RUN_STARTED"], "ag-ui"),
        (["start"], "ai-sdk"),
        (["start", "error"], "ai-sdk"),
        (["data-status", "start"], "ai-sdk"),
        (["error", "text-start"], "ai-sdk"),
        (["agent_start"], "pi"),
        (["message_update"], "pi"),
        (["response", "agent_start"], "pi"),
        (["user-message"], "turncheck"),
        (["tool-result"], "turncheck"),
        (["error", "user-message"], "turncheck"),
        (["anything"], "turncheck"),
    ],
)
def test_a_format_is_recognised_by_its_types(types: list[str], expected: str) -> None:
    assert detect([{"type": name} for name in types]).name == expected


def test_a_header_before_agent_events_is_pis_json_mode() -> None:
    assert detect([SESSION, {"type": "agent_start"}]).name == "pi"


def test_a_header_before_entries_is_a_session_file() -> None:
    assert detect([SESSION, {"type": "message", "id": "1", "parentId": None}]).name == "pi-session"


def test_a_header_alone_is_a_session_file() -> None:
    assert detect([SESSION]).name == "pi-session"


def test_the_storage_of_pis_harness_is_refused_by_name() -> None:
    header = {"kind": "header", "v": 4, "id": "s", "storageVersion": 1, "createdAt": 0, "cwd": "/"}
    with pytest.raises(UnsupportedFormatError, match="agent harness"):
        detect([header])


def test_pi_names_both_of_its_formats() -> None:
    assert [named("pi", values).name for values in ([SESSION], [{"type": "agent_start"}], [{"type": "x"}])] == [
        "pi-session",
        "pi",
        "pi",
    ]


def test_a_format_can_be_named_for_a_log_without_an_object() -> None:
    assert [named(name, []).name for name in FORMATS] == list(FORMATS)


def test_an_own_log_maps_to_itself() -> None:
    mapper = FORMATS["turncheck"].mapper()
    values = [{"type": "run-stop", "reason": "error"}, {"type": "x"}, None]
    assert [event for at, value in enumerate(values) for event in mapper.value(at, value)] == [
        (0, RunStop(reason="error")),
        (1, UnknownType("x")),
        (2, Malformed("unreadable line")),
    ]
    assert list(mapper.end()) == []


# The reorder buffer


def test_nothing_leaves_before_what_stands_in_front_of_it() -> None:
    items = Items()
    items.begin("a", said("assistant"), 0)
    items.put(1, NATIVE)
    assert list(items.release()) == []
    items.append("a", 2, "x")
    items.finish("a")
    assert [at for at, _ in items.release()] == [0, 1]


def test_an_item_without_text_takes_no_place() -> None:
    items = Items()
    items.begin("a", said("assistant"))
    items.finish("a")
    assert list(items.drain()) == []


def test_a_place_that_nothing_fills_is_native_in_the_end() -> None:
    items = Items()
    items.hold(0)
    assert list(items.drain()) == [(0, NATIVE)]
