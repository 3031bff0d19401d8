"""Pages are computed a few at a time, in the order of arrival, so that many readers wait about equally long."""

from collections.abc import Callable
from copy import copy
from threading import Semaphore, Thread
from time import sleep
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from tests.waiting import wait_until
from timemachine.web.request_queue import OpenRequests, RequestQueue

GET = RequestFactory().get("/")


class Pages:
    """Answers each request when it is told to; `begun` lists those it has begun, in order."""

    def __init__(self) -> None:
        self.begun: list[HttpRequest] = []
        self._may_end = Semaphore(0)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        self.begun.append(request)
        assert self._may_end.acquire(timeout=30)
        return HttpResponse()

    def end(self, number: int = 1) -> None:
        self._may_end.release(number)


def in_thread(work: Callable[..., Any], *facts: Any) -> Thread:
    thread = Thread(target=work, args=facts)
    thread.start()
    return thread


def queued(queue: RequestQueue, number: int) -> tuple[list[HttpRequest], list[Thread]]:
    """Send requests one after the other, each when the one before has begun or waits."""
    requests, threads = list[HttpRequest](), list[Thread]()
    for nth in range(number):
        requests.append(RequestFactory().get(f"/{nth}"))
        threads.append(in_thread(queue, requests[-1]))
        wait_until(lambda: queue.waiting == max(0, len(threads) - RequestQueue.AT_ONCE))
    return requests, threads


def test_further_pages_wait_and_begin_in_the_order_of_arrival() -> None:
    pages = Pages()
    queue = RequestQueue(pages, patience=60)
    requests, threads = queued(queue, RequestQueue.AT_ONCE + 6)
    for nth in range(RequestQueue.AT_ONCE, len(requests)):
        assert len(pages.begun) == nth
        pages.end()
        wait_until(lambda: len(pages.begun) > nth)  # noqa: B023  # called before the next turn
    pages.end(RequestQueue.AT_ONCE)
    for each in threads:
        each.join(60)
    assert pages.begun[RequestQueue.AT_ONCE :] == requests[RequestQueue.AT_ONCE :]


def test_what_changes_something_and_health_checks_never_wait() -> None:
    pages = Pages()
    queue = RequestQueue(pages, patience=60)
    _, threads = queued(queue, RequestQueue.AT_ONCE)
    for urgent in (RequestFactory().post("/"), RequestFactory().get("/health/live")):
        threads.append(in_thread(queue, urgent))
        wait_until(lambda: urgent in pages.begun)  # noqa: B023  # called before the next one
    pages.end(RequestQueue.AT_ONCE + 2)
    for each in threads:
        each.join(60)


def test_a_page_that_has_waited_long_enough_goes_ahead_and_takes_no_turn_from_others() -> None:
    pages = Pages()
    queue = RequestQueue(pages, patience=0.05)
    requests, threads = queued(queue, RequestQueue.AT_ONCE)
    late = in_thread(queue, GET)
    wait_until(lambda: GET in pages.begun)
    assert (queue.computing, queue.waiting) == (RequestQueue.AT_ONCE, 0)
    pages.end(len(requests) + 1)
    for each in [*threads, late]:
        each.join(60)
    assert (queue.computing, queue.waiting) == (0, 0)


def test_a_long_download_keeps_no_page_waiting() -> None:
    pages = Pages()
    queue = RequestQueue(pages, patience=60, long=0.05)
    _, threads = queued(queue, RequestQueue.AT_ONCE)
    sleep(0.1)
    threads.append(in_thread(queue, GET))
    wait_until(lambda: GET in pages.begun)
    pages.end(RequestQueue.AT_ONCE + 1)
    for each in threads:
        each.join(60)
    assert (queue.computing, queue.waiting) == (0, 0)


def test_a_page_that_fails_gives_its_turn_back() -> None:
    def broken(_: HttpRequest) -> HttpResponse:
        raise RuntimeError("This page is broken.")

    queue = RequestQueue(broken, patience=60)
    for _ in range(2 * RequestQueue.AT_ONCE):
        try:
            queue(GET)
        except RuntimeError:
            continue
    assert (queue.computing, queue.waiting) == (0, 0)


def process_of(shared: OpenRequests) -> OpenRequests:
    """Return what a process that was forked after `shared` was created has."""
    own = copy(shared)
    own.take_place()
    return own


def test_the_only_process_keeps_its_connections() -> None:
    pages = Pages()
    queue = RequestQueue(pages, patience=60)
    answers: list[HttpResponseBase] = []
    threads = [in_thread(lambda: answers.append(queue(GET))) for _ in range(4)]
    pages.end(len(threads))
    for each in threads:
        each.join(60)
    assert [answer.get("Connection") for answer in answers] == [None] * 4


def test_a_process_with_more_readers_than_another_closes_their_connections_until_they_are_even() -> None:
    shared = OpenRequests(2)
    pages = Pages()
    crowded, quiet = (RequestQueue(pages, patience=60, open_requests=process_of(shared)) for _ in range(2))
    answers: list[HttpResponseBase] = []
    threads = [
        in_thread(lambda queue: answers.append(queue(GET)), queue) for queue in (quiet, *[crowded] * 4)
    ]
    wait_until(lambda: crowded.computing + crowded.waiting + quiet.computing == len(threads))
    for number in range(1, len(threads) + 1):
        pages.end()
        wait_until(lambda: len(answers) == number)  # noqa: B023  # called before the next one
    for each in threads:
        each.join(60)
    assert 2 <= sum(answer.get("Connection") == "close" for answer in answers) <= 3
    pages.end()
    assert "Connection" not in crowded(GET), "It is the only open one."
