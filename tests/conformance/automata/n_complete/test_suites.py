"""n-complete suites: the theory's promise holds for ours, on small machines; and the known traps."""

import os
import random
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from runtimes import wrong
from runtimes.lifecycle import deciding
from runtimes.right import Right

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.interaction.runtime import InteractionRuntime
from turncheck.adapters.references.registry import reference_runtime
from turncheck.conformance.automata.learn.abstraction import (
    BEYOND,
    NOT_AWAITED,
    Abstracted,
    Bounds,
    letter_named,
    letters_of,
)
from turncheck.conformance.automata.learn.learning import learn
from turncheck.conformance.automata.learn.output_abstraction import Said
from turncheck.conformance.automata.n_complete.reference import InexactModelError, Model, model_of, reference_for
from turncheck.conformance.automata.n_complete.run import Plan, sent, verify_suite
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.verify.engine import Options
from turncheck.model.automata.mealy import Mealy, difference, minimal
from turncheck.model.automata.suites import SUITES, hsi, w, wp
from turncheck.model.machines.interaction import SPEC

TESTS = Path(__file__).parents[3]
SEEDS = range(12)
METHODS = ("w", "wp", "hsi")
FOLLOW_UPS = tuple(map(letter_named, ("user red", "follow-up red", "follow-up blue", "model-stop")))
ONE_COLOUR = tuple(map(letter_named, ("user red", "follow-up red", "model-stop")))
APPROVALS = ("user red", "gated-call", "approve", "deny", "model-stop", "tool-return", "abort")
CLIENTS = ("user red", "client-call", "client-result", "model-stop", "abort")
COMPACTIONS = ("user red", "text", "compact", "model-stop", "fatal-failure", "abort")
ABORTED = tuple(map(letter_named, ("user red", "abort")))
TWO = Bounds(messages=2)
COMPLETED = {Said("stop", details=("interrupted",)): Said("stop", details=("completed",))}

every_method = pytest.mark.parametrize("method", METHODS)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def drawn(chance, states, letters="ab"):
    """A machine drawn by *chance*, as it comes: not minimal, not all of it reached."""
    step = lambda: (chance.randrange(states), chance.choice("xy"))  # noqa: E731
    return Mealy(tuple(letters), tuple(tuple(step() for _ in letters) for _ in range(states)))


def machine(seed):
    """A minimal machine of at most four states."""
    return minimal(drawn(random.Random(seed), 4))


def mutants(right, seed, k, count=300):
    """Machines of at most k states more than *right*: it, with states split and steps changed, and drawn ones."""
    chance = random.Random(1000 + seed)
    size = len(right.table)
    for number in range(count):
        if number % 3 == 0:
            yield drawn(chance, size + k, right.letters)
            continue
        copies = [*range(size), *(chance.randrange(size) for _ in range(k))]  # of which state each state is a copy
        table = [list(right.table[one]) for one in copies]
        for row in table:
            for letter, (after, output) in enumerate(row):
                row[letter] = chance.choice([at for at, one in enumerate(copies) if one == after]), output
        row = chance.choice(table)
        letter = chance.randrange(len(right.letters))
        after, output = row[letter]
        row[letter] = (
            (chance.randrange(len(table)), output) if number % 3 == 1 else (after, "y" if output == "x" else "x")
        )
        yield Mealy(right.letters, tuple(map(tuple, table)))


def killed(right, other, suite):
    return any(right.run(word) != other.run(word) for word in suite)


# ---- theory ----


@every_seed
@every_method
@pytest.mark.parametrize("k", [0, 1, 2])
def test_every_machine_with_k_more_states_that_differs_is_found(seed, method, k):
    right = machine(seed)
    suite = SUITES[method](right, k)
    different = [one for one in mutants(right, seed, k) if difference(right, one, len(right.letters)) is not None]
    assert [one for one in different if not killed(right, one, suite)] == []


def test_the_mutants_do_differ():
    right = machine(1)
    assert sum(difference(right, one, 2) is not None for one in mutants(right, 1, 1)) > 100


def test_with_more_states_than_promised_a_fault_can_pass():
    """The promise has a limit: a loop that goes wrong at its fourth repetition has three states more."""
    right = Mealy(("a",), (((0, "x"),),))
    late = Mealy(("a",), (((1, "x"),), ((2, "x"),), ((3, "x"),), ((3, "y"),)))
    assert [killed(right, late, hsi(right, k)) for k in (0, 1, 2)] == [False, False, True]


@every_seed
@every_method
def test_every_transition_is_taken(seed, method):
    right = machine(seed)
    taken = set()
    for word in SUITES[method](right, 0):
        state = 0
        for letter in word:
            taken.add((state, letter))
            state = right.step(state, letter)[0]
    assert taken == {(state, letter) for state in range(len(right.table)) for letter in range(2)}


@every_seed
def test_two_states_share_an_identifier_that_separates_them(seed):
    right = machine(seed)
    for one, other in combinations(range(len(right.table)), 2):
        shared = [
            mine[:length]
            for mine in right.identifiers[one]
            for length in range(1, len(mine) + 1)
            if any(theirs[:length] == mine[:length] for theirs in right.identifiers[other])
        ]
        assert any(right.run(word, one) != right.run(word, other) for word in shared)


@every_seed
@every_method
def test_no_word_begins_another_and_the_shortest_come_first(seed, method):
    suite = SUITES[method](machine(seed), 1)
    assert [one for one in suite for other in suite if one != other and other[: len(one)] == one] == []
    assert [*suite] == sorted(suite, key=lambda word: (len(word), word))


def test_one_state_is_tested_with_words_of_k_and_two_letters():
    """AALpy's Wp has no second phase there."""
    one = Mealy(("a", "b"), (((0, "x"), (0, "x")),))
    assert {len(word) for method in (w, wp, hsi) for word in method(one, 1)} == {3}


def aalpys_difference(right, other):
    """Return whether AALpy's own Wp oracle distinguishes *other* from the hypothesis *right*."""
    import aalpy
    from aalpy.oracles import WpMethodEqOracle

    def automaton(given):
        states = [aalpy.MealyState(str(number)) for number in range(len(given.table))]
        for state, row in zip(states, given.table, strict=True):
            for letter, (after, output) in zip(given.letters, row, strict=True):
                state.transitions[letter], state.output_fun[letter] = states[after], output
        return aalpy.MealyMachine(states[0], states)

    alphabet = list(right.letters)
    oracle = WpMethodEqOracle(alphabet, aalpy.AutomatonSUL(automaton(other)), max_number_of_states=len(right.table) + 1)
    hypothesis = automaton(right)
    hypothesis.compute_prefixes()
    return oracle.find_cex(hypothesis) is not None


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if len(machine(seed).table) > 1][:4])
def test_aalpys_own_wp_finds_a_difference_where_ours_does(seed):
    right = machine(seed)
    given = [right, *mutants(right, seed, 1, 30)]
    assert [aalpys_difference(right, one) for one in given] == [killed(right, one, wp(right, 1)) for one in given]


def test_another_hash_seed_gives_the_same_words():
    script = """
from turncheck.adapters.references.interaction.runtime import InteractionRuntime
from turncheck.adapters.references.registry import reference_runtime
from turncheck.conformance.automata.learn.abstraction import Bounds, letter_named
from turncheck.conformance.automata.n_complete.run import Plan
from turncheck.conformance.automata.n_complete.reference import model_of
names = ("user red", "user blue", "steer red", "text", "model-stop", "abort")
letters = [letter_named(name) for name in names]
model = model_of(InteractionRuntime(), letters, Bounds())
print([Plan(model, method, 1).words for method in ("w", "wp", "hsi")])
"""

    def words(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120).stdout

    first = words("1")
    assert first.startswith(b"[((")
    assert words("2") == first


# ---- letters that are not sent ----


def test_a_letter_that_is_answered_without_asking_is_left_out_of_a_word():
    machine = Mealy(("a", "b", "c"), (((0, "x"), (0, NOT_AWAITED), (0, BEYOND)),))
    assert sent(machine, ((0, 1, 2, 0), (1, 2))) == ((0, 0),)


def test_a_suite_too_large_says_what_would_make_it_smaller():
    model = Model(drawn(random.Random(0), 100, "abcdefghijklmnopqrst"), InteractionRuntime(), TWO, exact=True)
    with pytest.raises(TargetError, match=r"choose fewer letters \(--letters\) or a smaller k"):
        _ = Plan(model, "hsi", 2).words


# ---- the model ----


@pytest.mark.parametrize(
    "policies", [{}, {"busy": "followUp"}, {"queueAfterError": "drop"}], ids=["plain", "queueing", "dropping"]
)
def test_the_explored_model_is_the_one_that_is_learned(policies):
    runtime = InteractionRuntime(policies=policies)
    letters = [one for one in letters_of(runtime.profile.capabilities) if str(one) not in {"tool-failure", "user blue"}]
    explored = model_of(runtime, letters, Bounds()).machine
    learned = learn(Abstracted(runtime, Bounds()), letters, extra=1).machine
    assert difference(explored, learned, len(letters)) is None


def test_the_reference_of_a_runtime_that_claims_no_machine_is_the_interaction_machine_under_its_policies():
    reference = reference_for(Right(busy="steer").profile)
    assert (reference.name, reference.profile.policies["busy"]) == ("reference:interaction", "steer")


def test_a_model_that_its_reference_does_not_answer_like_gives_no_verdict():
    right = model_of(InteractionRuntime(), ABORTED, Bounds())
    table = [
        [(after, replace(output, said=tuple(COMPLETED.get(one, one) for one in output.said))) for after, output in row]
        for row in right.machine.table
    ]
    model = Model(Mealy(right.machine.letters, tuple(map(tuple, table))), right.reference, right.bounds, exact=True)
    with pytest.raises(InexactModelError, match="is inexact: it answers 'abort' with 'stop interrupted"):
        held(wrong.AbortCompletes(), model)


# ---- on a target ----


def held(runtime, model, k=1, laws=("equals-model",), **options):
    given = Options(hash_seed=4321, **options)
    return verify_suite(runtime, Plan(model, "hsi", k), [LAWS[law] for law in laws], given)


def asks_again(row):
    """The row, or, for a failure of a summary, one that asks for it anew."""
    return [*row[:2], None, [], [], ["summarise"]] if row[:2] == ["fatal-failure", "compacting"] else row


def suite_of(runtime, letters, bounds=TWO, **options):
    result, found = held(runtime, model_of(reference_for(runtime.profile), letters, bounds), **options)
    return result.coverage["suite"], found


def test_in_two_colours_last_in_first_out_fails():
    suite, found = suite_of(wrong.LastInFirstOut(), FOLLOW_UPS)
    assert (suite.complete, suite.why) == (False, "the target differs from the model (equals-model)")
    one = found["equals-model"]
    assert [stimulus.text.rpartition(" ")[2] for stimulus in one.word.stimuli[:-1]] == ["red", "red", "blue"]
    assert (one.expected, one.observed) == (
        "stop completed, request(red) → model",
        "stop completed, request(blue) → model",
    )


def test_without_colours_last_in_first_out_passes():
    assert suite_of(wrong.LastInFirstOut(), ONE_COLOUR)[0].complete


def test_with_one_that_waits_last_in_first_out_passes():
    assert suite_of(wrong.LastInFirstOut(), FOLLOW_UPS, Bounds())[0].complete


@pytest.mark.parametrize(
    ("names", "states"), [(APPROVALS, 5), (CLIENTS, 4), (COMPACTIONS, 3)], ids=["approvals", "client", "compactions"]
)
def test_a_suite_has_the_letters_of_decisions_and_compactions_where_they_are_chosen(names, states):
    suite, found = suite_of(InteractionRuntime(), tuple(map(letter_named, names)))
    assert (suite.n, suite.complete, found) == (states, True, {})


@pytest.mark.parametrize(
    ("runtime", "names", "expected", "observed"),
    [
        (
            *(deciding.ExecutesWhatIsDenied(), APPROVALS),
            *("result error, run-resume, request() → model", "run-resume → tool"),
        ),
        (
            *(deciding.StopsAtTheClientsResult(), CLIENTS),
            *("result ok, run-resume, request() → model", "run-resume, result ok → stuck"),
        ),
        (
            *(InteractionRuntime(replace(SPEC, table=[*map(asks_again, SPEC.table)])), COMPACTIONS),
            *("quiet → nothing", "request() for a summary → model"),
        ),
    ],
    ids=["a denied call is executed", "a turn stops at the client's result", "a summary is asked for again and again"],
)
def test_a_suite_finds_a_wrong_decision_and_a_wrong_compaction(runtime, names, expected, observed):
    found = suite_of(runtime, tuple(map(letter_named, names)))[1]["equals-model"]
    assert (found.expected, found.observed) == (expected, observed)


@every_method
def test_the_right_runtime_is_as_the_model_by_every_method(method):
    runtime = Right()
    plan = Plan(model_of(reference_for(runtime.profile), FOLLOW_UPS, TWO), method, 1)
    result, found = verify_suite(runtime, plan, [LAWS["equals-model"]], Options(hash_seed=4321))
    assert (result.coverage["suite"].complete, found) == (True, {})


def test_two_extra_states_are_tested_for_where_the_model_has_at_most_15():
    model = model_of(InteractionRuntime(), ONE_COLOUR, TWO)
    result, _ = held(InteractionRuntime(), model, k=2)
    suite = result.coverage["suite"]
    assert (suite.n <= 15, suite.k, suite.complete) == (True, 2, True)


def test_a_word_is_judged_by_the_other_laws_too():
    result, _ = held(
        wrong.EndsTwice(),
        model_of(reference_for(Right().profile), ABORTED, TWO),
        laws=("run-ends-once", "equals-model"),
    )
    assert [law.verdict for law in result.laws] == ["fail", "fail"]


def test_a_used_up_budget_leaves_no_guarantee():
    suite, _ = suite_of(Right(), FOLLOW_UPS, deadline=0.0)
    assert (suite.complete, suite.guarantee) == (False, ())
    assert suite.why.endswith("words were applied: the time budget was used up")


def test_a_target_that_breaks_leaves_no_guarantee():
    suite, _ = suite_of(wrong.Dies(), tuple(map(letter_named, ("user red", "tool-call", "model-stop"))))
    assert (suite.complete, suite.guarantee) == (False, ())


def test_a_target_that_is_not_deterministic_gets_no_guarantee():
    suite, _ = suite_of(wrong.CountsAcrossResets(), FOLLOW_UPS, laws=("run-deterministic", "equals-model"))
    assert (suite.complete, suite.guarantee) == (False, ())


# ---- the page ----

SIZES = {
    "reference:event_flow": [(55, 221), (55, 221), (55, 221)],
    "reference:interaction": [(840, 4321), (843, 4333), (1404, 7193)],
}
"""Words and stimuli for k=0 by HSI, Wp and W, as docs/suites.md has them."""


@pytest.mark.parametrize("name", SIZES)
def test_a_suite_has_the_size_that_the_page_says(name):
    with reference_runtime(name.partition(":")[2]) as reference:
        model = model_of(reference, letters_of(reference.profile.capabilities), Bounds())
    plans = [Plan(model, method, 0) for method in ("hsi", "wp", "w")]
    assert [(len(plan.words), plan.stimuli) for plan in plans] == SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_the_page_has_the_pinned_sizes(name):
    page = (TESTS.parent / "docs" / "suites.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {name} |") and " | 0 | " in line)
    assert row.split(" | ")[4:7] == [f"{words:,} / {stimuli:,}" for words, stimuli in SIZES[name]]
