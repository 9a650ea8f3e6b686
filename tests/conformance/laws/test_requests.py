"""What the law on histories makes of requests: its comparison of what was said with what is shown."""

import pytest

from turncheck.conformance.laws.runtime.requests import difference
from turncheck.conformance.laws.runtime.responses import malformed, same_arguments
from turncheck.model.core.history import Entry, arranged
from turncheck.model.core.stimuli import Shown

MESSAGE = Shown(role="user", text="say one", ids=("u1",))
CALL = Shown(role="assistant", call_id="c1", tool="read", arguments={"path": "x"})
RESULT = Shown(role="tool", call_id="c1", text="done")
SAID = Shown(role="assistant", text="all well")


def result(name, **more):
    return Shown(role="tool", call_id=name, text="done", **more)


def test_a_result_is_not_that_of_a_call_whose_id_begins_alike():
    assert difference([result("c1")], [result("c10")]) == 0


@pytest.mark.parametrize(
    ("shown", "place"),
    [
        ([MESSAGE, CALL, RESULT], None),
        ([MESSAGE, CALL], 2),
        ([MESSAGE, CALL, RESULT, SAID], 3),
        ([MESSAGE, RESULT, CALL], 1),
        ([Shown(role="user", text="say one"), CALL, RESULT], None),
        ([Shown(role="user", text="[12:00] say one", ids=("u1",)), CALL, RESULT], None),
        ([Shown(role="user", text="[12:00] say one"), CALL, RESULT], 0),
        ([Shown(role="user", text="say", ids=("u1",)), CALL, RESULT], 0),
        ([MESSAGE, Shown(role="assistant", call_id="c1"), RESULT], None),
        ([MESSAGE, Shown(role="assistant", call_id="c1", tool="bash"), RESULT], 1),
        ([MESSAGE, Shown(role="assistant", call_id="c1", arguments={}), RESULT], 1),
        ([MESSAGE, CALL, Shown(role="tool", call_id="c1", text="It said: done")], None),
        ([MESSAGE, CALL, Shown(role="tool", call_id="c1", text="don")], 2),
    ],
)
def test_what_is_shown_is_what_was_said_or_differs_first_there(shown, place):
    assert difference([MESSAGE, CALL, RESULT], shown) == place


@pytest.mark.parametrize(
    ("right", "mark", "same"),
    [(True, True, True), (True, None, False), (False, True, False), (False, None, True), (None, True, True)],
)
def test_a_mark_of_failure_is_shown_where_it_has_to_be(right, mark, same):
    assert (difference([result("c1", is_error=right)], [result("c1", is_error=mark)]) is None) is same


@pytest.mark.parametrize(
    ("said", "told", "same"),
    [
        ({"a": 1}, '{"a": 1}', True),
        (None, {}, True),
        ('{"a": 1}', {"a": 1}, True),
        ({"a": 1}, {}, False),
        ("{", {}, True),
    ],
)
def test_arguments_are_those_that_the_model_wrote(said, told, same):
    assert same_arguments(said, told) is same


@pytest.mark.parametrize(
    ("arguments", "is_none"), [("{", True), ("[1]", True), ("{}", False), ({}, False), (None, False)]
)
def test_arguments_that_are_no_object_are_malformed(arguments, is_none):
    assert malformed(arguments) is is_none


OTHER = Shown(role="assistant", call_id="c2", tool="bash")
RESPONSE = [Entry(CALL, 1), Entry(OTHER, 1), Entry(SAID, 1), Entry(result("c2"), 1), Entry(RESULT, 1)]


@pytest.mark.parametrize(
    ("policies", "names"),
    [
        ({}, "c1 c2 all well c2 c1"),
        ({"itemOrder": "texts-first"}, "all well c1 c2 c2 c1"),
        ({"itemOrder": "texts-last"}, "c1 c2 c2 c1 all well"),
        ({"resultOrder": "as-called"}, "c1 c2 all well c1 c2"),
        ({"resultOrder": "paired"}, "c1 c1 c2 c2 all well"),
    ],
)
def test_a_response_and_its_results_are_arranged_as_declared(policies, names):
    assert " ".join(str(one.call_id or one.text) for one in arranged(RESPONSE, policies)) == names


def test_texts_side_by_side_are_one_where_they_are_merged():
    texts = [Entry(MESSAGE), Entry(MESSAGE), Entry(SAID, 1), Entry(SAID, 2)]
    assert [one.text for one in arranged(texts, {"adjacent": "merged"})] == ["say one\nsay one", "all well\nall well"]
