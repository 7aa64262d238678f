"""Several server processes on one port: they share the socket, and each opens the homes that it is asked for."""

import multiprocessing
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.process import BaseProcess, parent_process

import anyio

from conversation_mcp.background import Background
from conversation_mcp.bootstrap import open_program, work_in_background
from conversation_mcp.garbage import collecting_later, share_arenas
from conversation_mcp.logs import configure_logging
from conversation_mcp.server.http.options import HttpOptions
from conversation_mcp.server.http.serving import OpenEntrance, serve_http
from conversation_mcp.settings import Settings

LOOK_EVERY_SECONDS = 0.2
RESTART_SECONDS = 1.0
"""Keeps a worker that cannot start from being started over and over."""


WorkAside = Callable[[Settings, str], Awaitable[object]]
"""Does the work of an owner for the background. It is called in each worker, so it must be a function of a module."""


def serve_alone(
    settings: Settings,
    options: HttpOptions,
    listener: socket.socket,
    open_entrance: OpenEntrance,
    work_aside: WorkAside,
) -> None:
    """Serve in this process until it is told to end."""
    _serve(settings, options, listener, open_entrance, work_aside, anyio.sleep_forever)


def serve_together(
    settings: Settings,
    options: HttpOptions,
    listener: socket.socket,
    open_entrance: OpenEntrance,
    work_aside: WorkAside,
) -> None:
    """Run the workers until this process is told to end; one that dies is replaced."""
    context = multiprocessing.get_context("spawn")

    def start(number: int) -> BaseProcess:
        worker = context.Process(
            target=_work, args=(settings, _of_worker(options, number), listener, open_entrance, work_aside)
        )
        worker.start()
        return worker

    is_told = _told_to_end()
    workers = [start(number) for number in range(options.workers)]
    while not is_told():
        time.sleep(LOOK_EVERY_SECONDS)
        for place, worker in enumerate(workers):
            if not worker.is_alive() and not is_told():
                time.sleep(RESTART_SECONDS)
                workers[place] = start(place)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join()


def _of_worker(options: HttpOptions, number: int) -> HttpOptions:
    port = options.metrics_port
    return options if port is None else options._replace(metrics_port=port + number)


def _work(
    settings: Settings,
    options: HttpOptions,
    listener: socket.socket,
    open_entrance: OpenEntrance,
    work_aside: WorkAside,
) -> None:
    with collecting_later():  # what the worker was started with is imported by now
        configure_logging(settings.log_level)
    _serve(settings, options, listener, open_entrance, work_aside, _wait_orphaned)


def _serve(
    settings: Settings,
    options: HttpOptions,
    listener: socket.socket,
    open_entrance: OpenEntrance,
    work_aside: WorkAside,
    wait_end: Callable[[], Awaitable[None]],
) -> None:
    share_arenas()  # before there are threads
    background = Background(partial(work_aside, settings))
    opened = open_program(settings, has_work=background.wake)
    run_aside = partial(work_in_background, settings, background)
    anyio.run(partial(serve_http, opened, options, listener, open_entrance(settings), wait_end, run_aside))


async def _wait_orphaned() -> None:
    """Wait until the process that started this one is gone."""
    parent = parent_process()
    while parent is None or parent.is_alive():  # noqa: ASYNC110 -- nothing tells of it
        await anyio.sleep(LOOK_EVERY_SECONDS)


def _told_to_end() -> Callable[[], bool]:
    """Return a function that tells whether SIGINT or SIGTERM has come."""
    told: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: told.append(number))
    return lambda: bool(told)
