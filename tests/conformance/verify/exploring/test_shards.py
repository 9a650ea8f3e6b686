"""The end of a shard is that of its run."""

import contextlib

from runtimes.right import Right

from turncheck.conformance.verify.engine import Options, OverError, Run
from turncheck.conformance.verify.exploring.shards import absorb, part_of
from turncheck.conformance.verify.subjects.runtime import RuntimeSubject


def begun():
    return Run(RuntimeSubject(Right(), Right()), [], Options())


def test_a_run_is_incomplete_where_a_shard_of_it_was_given_up():
    run, own = begun(), begun()
    with contextlib.suppress(OverError):
        own.give_up("no quiet")
    absorb(run, part_of(own))
    assert (run.cut, run.incomplete) == ("no quiet", True)
