"""Quiet, exactly: what the Python kit waits for, and what the virtual clock does meanwhile."""

import concurrent.futures
import select

import pytest
from python_client import ABORT, FAKES, Client, does, returns, said, says, stops, tool_fails, user

from turncheck.adapters.kit.turncheck_kit import _Threads


@pytest.fixture
def fresh():
    """For what leaves something behind."""
    with Client.of(FAKES) as client:
        client.reset()
        yield client


@pytest.fixture(scope="module")
def sync():
    with Client.of(FAKES, "sync") as client:
        yield client


WAITED_FOR = {
    "executor": ["worked"],
    "to_thread": ["worked"],
    "many_jobs": [["worked"] * 12],
    "own_pool": ["worked"],
    "anyio_thread": ["worked", "and idle"],
    "anyio_abandoned": ["abandoned"],
    "cancelled_job": ["cancelled"],
    "foreign_thread": ["woken"],
    "silent_thread": [],
    "child": ["out"],
    "silent_child": [0],
    "sockets": ["echoed"],
    "long_way": ["there"],
}


@pytest.mark.parametrize("what", WAITED_FOR)
def test_work_that_is_under_way_is_waited_for(fakes, what):
    step = does(fakes, what)
    assert (said(step), step.get("unsettled")) == (WAITED_FOR[what], None)


def test_the_same_threads_and_children_give_the_same_answers_every_time(fakes):
    for what in ("executor", "anyio_thread", "own_pool", "foreign_thread", "child", "sockets"):
        assert [said(does(fakes, what)) for _ in range(20)] == [WAITED_FOR[what]] * 20


def test_a_tool_that_blocks_its_thread_is_quiet(fakes):
    step = does(fakes, "tool_in_a_thread")
    assert ([entry["kind"] for entry in step["awaiting"]], step.get("unsettled")) == (["tool"], None)


def test_a_tool_that_blocks_its_thread_goes_on_when_it_returns(fakes):
    assert said(*fakes.run(user("tool_in_a_thread"), returns("c1"))) == ["done"]


def test_a_reset_wakes_a_blocked_thread(fakes):
    does(fakes, "tool_in_a_thread")
    assert "unsettled" not in fakes.reset()


@pytest.mark.parametrize("what", ["endless_thread", "endless_child", "spin"])
def test_work_without_an_end_is_unsettled_after_the_patience(fresh, what):
    assert does(fresh, what)["unsettled"] is True


def test_a_word_ends_at_an_unsettled_step(fresh):
    assert len(fresh.run(user("nothing"), user("spin"), user("nothing"))) == 2


def test_stop_ends_a_process_whose_threads_refuse_to_die(fresh):
    does(fresh, "endless_thread")
    fresh.close()
    assert fresh.process.returncode == 0


def test_a_reset_with_a_thread_that_refuses_to_die_is_unsettled(fresh):
    does(fresh, "endless_thread")
    assert fresh.reset()["unsettled"] is True
    assert "did not end" in fresh.close()


def test_a_reset_with_a_task_that_ignores_cancellation_says_so(fresh):
    does(fresh, "ignores_cancellation")
    assert fresh.reset()["events"] == []
    assert "ignored three cancellations" in fresh.close()


def test_a_reset_lets_a_task_clean_up(fresh):
    does(fresh, "cleans_up")
    fresh.reset()
    assert "cleaned up" in fresh.close()


def test_an_endless_synchronous_loop_is_left_to_the_harness(fresh):
    fresh.process.stdin.write(
        b'{"cmd": "apply", "seq": 9, "stimulus": {"kind": "user", "id": "u", "text": "loop_for_ever"}}\n'
    )
    fresh.process.stdin.flush()
    assert select.select([fresh.process.stdout], [], [], 1.0)[0] == []  # twice the patience


# The clock


def test_a_timer_fires_by_itself_where_nothing_is_awaited(fakes):
    step = does(fakes, "timer")
    assert (said(step), step["awaiting"]) == (["rang"], [])


def test_timers_fire_in_due_order(fakes):
    assert said(does(fakes, "three_timers")) == [1, 2, 3]


def test_a_timer_waits_while_the_model_is_awaited(fakes):
    step = does(fakes, "timer_beside_the_model")
    assert (said(step), step["awaiting"][-1]) == ([], {"kind": "timer", "in": 5})


def test_a_timer_fires_once_the_model_is_answered(fakes):
    assert said(*fakes.run(user("timer_beside_the_model"), stops())) == [["end-turn", None], "rang"]


def test_under_the_manual_clock_no_timer_fires_by_itself(fakes):
    fakes.reset(clock="manual")
    step = does(fakes, "three_timers")
    assert (said(step), step["awaiting"]) == ([], [{"kind": "timer", "in": 1}])


def test_advance_fires_what_is_due_by_then(fakes):
    fakes.reset(clock="manual")
    steps = fakes.run(user("three_timers"), {"kind": "advance", "seconds": 2}, {"kind": "advance", "seconds": 0.5})
    assert [said(step) for step in steps] == [[], [1, 2], []]
    assert steps[-1]["awaiting"] == [{"kind": "timer", "in": 0.5}]


def test_advance_fires_the_timers_that_timers_set(fakes):
    fakes.reset(clock="manual")
    does(fakes, "chain_of_timers")
    assert said(fakes.apply("advance", seconds=2.5)) == [1, 2]


def test_advance_fires_a_timer_beside_the_model(fakes):
    assert said(*fakes.run(user("timer_beside_the_model"), {"kind": "advance", "seconds": 5})) == ["rang"]


def test_tenths_of_seconds_add_up(fakes):
    fakes.reset(clock="manual")
    does(fakes, "three_timers")
    steps = fakes.run(*[{"kind": "advance", "seconds": 0.1}] * 10)
    assert [said(step) for step in steps] == [[]] * 9 + [[1]]


def test_a_timer_that_only_repeats_comes_to_rest_and_is_shown(fakes):
    step = does(fakes, "housekeeping")
    assert (said(step), step["awaiting"], step.get("unsettled")) == (["beats"], [{"kind": "timer", "in": 30}], None)


def test_all_clocks_are_virtual_and_begin_anew_with_a_reset(fakes):
    does(fakes, "timer")
    fakes.reset()
    assert said(does(fakes, "clocks")) == [[0, 1767225600, 0, 1767225600 * 10**9, 0]]


# Synchronous runtimes


def test_a_synchronous_runtime_blocks_in_the_model_and_in_a_tool(sync):
    sync.reset()
    steps = sync.run(user("talk"), says("a"), says("b"), stops(), returns("c1"))
    assert [said(step) for step in steps] == [[], ["a"], ["b"], [], ["done"]]
    assert [[entry["kind"] for entry in step["awaiting"]] for step in steps] == [["model"]] * 3 + [["tool"], []]


def test_a_synchronous_tool_fails(sync):
    sync.reset()
    assert said(*sync.run(user("talk"), stops(), tool_fails("c1", "no"))) == ["no"]


def test_a_synchronous_runtime_is_interrupted(sync):
    sync.reset()
    assert said(*sync.run(user("talk"), ABORT)) == ["interrupted"]


def test_a_deaf_tool_of_a_synchronous_runtime_is_not_interrupted(sync):
    sync.reset(deafTools=True)
    steps = sync.run(user("talk"), stops(), ABORT, returns("c1"))
    assert ([said(step) for step in steps], steps[2]["awaiting"][0]["cancelled"]) == ([[], [], [], ["done"]], True)


def test_a_synchronous_runtime_sleeps_on_the_virtual_clock(sync):
    sync.reset()
    assert said(does(sync, "sleeps")) == [60]


def test_a_synchronous_sleep_waits_for_the_manual_clock(sync):
    sync.reset(clock="manual")
    assert does(sync, "sleeps")["awaiting"] == [{"kind": "timer", "in": 60}]
    assert said(sync.apply("advance", seconds=60)) == [60]


def test_a_synchronous_runtime_that_computes_is_waited_for(sync):
    sync.reset()
    assert said(does(sync, "computes")) == ["computed"]


@pytest.mark.parametrize("what", ["jobs", "map", "as_completed", "wait", "result_with_a_timeout"])
def test_a_synchronous_runtimes_own_pool_blocks_in_tools(sync, what):
    sync.reset()
    steps = sync.run(user(what), returns("c2", "b"), returns("c1", "a"))
    tools = [[entry for entry in step["awaiting"] if entry["kind"] == "tool"] for step in steps]
    assert ([len(step) for step in tools], said(*steps)) == ([2, 1, 0], [["a", "b"]])


def test_a_job_that_waits_for_a_free_thread_of_its_pool_is_quiet(sync):
    sync.reset()
    steps = sync.run(user("queued"), returns("c1", "a"), returns("c2", "b"))
    assert ([len(step["awaiting"]) for step in steps], said(*steps)) == ([1, 1, 0], [["a", "b"]])


def test_a_job_that_is_cancelled_in_the_queue_is_over(sync):
    sync.reset()
    assert said(*sync.run(user("cancelled_in_the_queue"), returns("c1", "a"))) == [["a", True]]


def test_threads_that_are_joined_block_in_tools(sync):
    sync.reset()
    steps = sync.run(user("own_threads"), returns("c1"), returns("c2"))
    assert ([len(step["awaiting"]) for step in steps], said(*steps)) == ([2, 1, 0], ["joined"])


def test_a_thread_that_serves_a_queue_blocks_in_tools(sync):
    sync.reset()
    steps = sync.run(user("work_queue"), returns("c1", "a"), returns("c2", "b"))
    assert (steps[1]["awaiting"][0]["callId"], said(*steps)) == ("c2", [["a", "b"]])


def test_the_timeouts_of_threads_are_virtual(sync):
    sync.reset()
    assert said(does(sync, "timed_out")) == [60, 90]


def test_a_thread_that_no_one_releases_is_unsettled_and_its_stack_is_told():
    with Client.of(FAKES, "sync") as client:
        client.reset()
        assert does(client, "lock_that_another_holds")["unsettled"] is True
        assert "in lock_that_another_holds\n    lock.acquire()" in client.close()


def test_a_loop_that_never_rests_is_unsettled_and_the_stacks_of_its_tasks_are_told(fresh):
    does(fresh, "spin")
    assert "in spin\n    await asyncio.sleep(0)" in fresh.close()


def test_a_child_that_lives_on_is_unsettled_and_told(fresh):
    does(fresh, "endless_child")
    assert "the child process " in fresh.close()


def test_a_thread_is_at_work_from_the_moment_its_result_is_there():
    threads, looks = _Threads(), []
    job: concurrent.futures.Future[str] = concurrent.futures.Future()

    def look():
        """The loop is woken as soon as the thread waits: its result comes right then."""
        if not job.done():
            job.set_result("done")
            looks.append(threads.at_work())

    threads.wake = look
    undo = threads.watch()
    try:
        threads.begin()
        threads.working(job.result)
    finally:
        undo()
    assert looks == [True]


@pytest.mark.parametrize(("observer", "said_then"), [("throws", "the observer throws"), ("slow", "observed")])
def test_a_synchronous_listener_observes_as_the_options_say(sync, observer, said_then):
    sync.reset(observer=observer)
    assert said(does(sync, "observes")) == [said_then]


def test_a_synchronous_runtimes_exception_is_failed(sync):
    sync.reset()
    assert does(sync, "raises")["error"]["message"] == "LookupError: broken"


def test_a_reset_ends_a_synchronous_runtime_that_catches_all(sync):
    sync.reset()
    does(sync, "catches_all")
    assert sync.reset() == {"seq": sync.seq, "ok": True, "events": [], "awaiting": []}
