"""The fuzzer's inputs without the fuzzer: every committed input, and every seed, keeps its target's promises."""

import random

import pytest

from fuzz import corpus
from fuzz.engine.json_mutator import Mutator
from fuzz.targets import TARGETS

every_target = pytest.mark.parametrize("name", TARGETS)


@every_target
def test_the_committed_inputs_break_no_promise(name: str) -> None:
    inputs = corpus.load(name)
    assert inputs
    for data in inputs:
        TARGETS[name].check(data, whole=True)


@every_target
def test_the_seeds_break_no_promise(name: str) -> None:
    for data in TARGETS[name].seeds():
        TARGETS[name].check(data, whole=True)


def test_every_file_of_inputs_is_a_targets() -> None:
    assert {path.stem for path in corpus.FOLDER.iterdir()} == TARGETS.keys()


def test_all_inputs_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in corpus.FOLDER.iterdir()) <= 2_000_000


def test_any_bytes_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(corpus, "FOLDER", tmp_path)
    inputs = [b"", bytes(range(256)), '{"text":"é"}\n'.encode()]
    corpus.save("any", inputs)
    assert sorted(corpus.load("any")) == sorted(inputs)


def test_a_mutation_is_drawn_from_its_seed_and_keeps_to_the_limit() -> None:
    mutator = Mutator([b'{"type":"native","x":[1,"red"]}', b"data: {}"])
    draw, data = random.Random(1), b'{"type":"run-stop","reason":"error"}\n{"type":"native"}'
    for _ in range(2000):
        seed = draw.randrange(1 << 32)
        changed = mutator(data, 300, seed)
        assert len(changed) <= 300
        assert mutator(data, 300, seed) == changed
        data = changed or data
