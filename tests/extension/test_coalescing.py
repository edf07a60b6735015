"""Requests coalesce: of hundreds that come at once a few are answered, the newest among them."""

from __future__ import annotations

import asyncio
import threading
import time

from symgrad_notebook.coalescing import Newest


def _run(burst):
    answered = []

    async def main():
        def answer(request):
            time.sleep(0.002)
            answered.append(request)

        newest = Newest(answer)
        await burst(newest)
        while not answered or answered[-1][1] != 199:
            await asyncio.sleep(0.01)

    asyncio.run(main())
    return answered


def test_two_hundred_at_once_leave_the_newest():
    async def burst(newest):
        for k in range(200):
            newest.ask("window", ("window", k))

    assert _run(burst) == [("window", 199)]


def test_two_hundred_that_trickle_in_are_not_queued():
    async def burst(newest):
        for k in range(200):
            newest.ask("window", ("window", k))
            await asyncio.sleep(0)

    answered = _run(burst)
    assert len(answered) <= 20
    assert answered[-1] == ("window", 199)


def test_one_kind_does_not_replace_another():
    async def burst(newest):
        for k in range(200):
            newest.ask("pick" if k % 2 else "window", ("pick" if k % 2 else "window", k))

    assert _run(burst) == [("window", 198), ("pick", 199)]


def test_from_another_thread():
    threads = []

    async def burst(newest):
        def ask():
            for k in range(200):
                newest.ask("window", ("window", k))

        threads.append(threading.Thread(target=ask))
        threads[0].start()

    assert _run(burst)[-1] == ("window", 199)
    threads[0].join()


def test_without_a_loop_it_is_answered_at_once():
    answered = []
    Newest(answered.append).ask("window", 1)
    assert answered == [1]
