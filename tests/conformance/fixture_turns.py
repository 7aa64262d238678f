"""The suite's fixtures of the tasks extension: real questions to a provider that behaves as told."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import count

import anyio
from mcp.types import InputRequest
from tests.conformance.fixture_rounds import form

from conversation_mcp.app import App
from conversation_mcp.errors import ProviderUnavailableError, RunCancelledError
from conversation_mcp.providers.base import Answer, Event, Finished, Progress, Request, Started, StillRunning
from conversation_mcp.records.modes import Mode
from conversation_mcp.tooling.questions import AskingTool
from conversation_mcp.tooling.tool import GivenT, Input
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.result import TurnResult


class OpenRequests:
    """What runs ask the client for, by question, until it has answered."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._open: dict[str, dict[str, InputRequest]] = {}
        self._answered = anyio.Event()

    def of(self, question: str) -> dict[str, InputRequest]:
        return dict(self._open.get(question, {}))

    async def wait(self, question: str, *requests: InputRequest) -> None:
        waiting = self._open[question] = {f"input-{next(self._numbers)}": request for request in requests}
        while waiting:
            await self._answered.wait()

    def answer(self, question: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._open.get(question, {}).pop(key, None)
        self._answered.set()
        self._answered = anyio.Event()


class SuiteProvider:
    """Takes its behaviour from the model's name: `sleep/2`, `fail/1`, `crash/1` with the seconds it takes, `input/2`."""

    def __init__(self, requests: OpenRequests) -> None:
        self._requests = requests

    name = "suite"
    abilities: frozenset[Mode] = frozenset(("search", "deep_research"))

    def serves(self, model: str) -> bool:
        return "/" in model

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        kind, _, seconds = (request.model or "sleep/0").partition("/")
        if kind == "input":
            question = request.messages[-1].content
            yield Started(f"resp_{kind}")
            await self._requests.wait(question, *(form(f"{number}?", "confirm") for number in range(int(seconds))))
            yield Finished(Answer(f"done: {question}"))
            return
        yield Progress(f"to {kind} in {seconds} s")
        if kind != "crash":
            yield Started(f"resp_{kind}")
        await anyio.sleep(float(seconds))
        if kind == "fail":
            message = "the job failed, as it was told to."
            raise ProviderUnavailableError(message, maybe_billed=True)
        if kind == "crash":
            message = "a bug, as it was told to have"
            raise RuntimeError(message)
        yield Finished(Answer(f"done after {seconds} s"))

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        del response_id
        await anyio.lowlevel.checkpoint()
        raise RunCancelledError(self.name)

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        await self.fetch(response_id)
        yield Progress("never reached")

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        return await self.fetch(response_id)


class ComputeInput(Input):
    seconds: float = 1
    label: str = "compute"


class NoInput(Input):
    pass


class DeleteInput(Input):
    filename: str = "notes.txt"


class NameInput(Input):
    name: str = ""


async def slow_compute(given: ComputeInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "slow_compute", given.label, f"sleep/{given.seconds:g}")


async def failing_job(_given: NoInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "failing_job", "Fail?", "fail/1")


async def protocol_error_job(_given: NoInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "protocol_error_job", "Crash?", "crash/0.2")


async def confirm_delete(given: DeleteInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "confirm_delete", f"Delete {given.filename}?", "input/1")


async def multi_input(_given: NoInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "multi_input", "Two?", "input/2")


async def test_tool_with_task(given: NameInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "test_tool_with_task", f"Greet {given.name}.", "input/0")


async def ask(app: App, caller: Caller, tool: str, question: str, model: str) -> TurnResult:
    return await app.turns.start(Ask(tool, "search", question, "fast", model), caller)


def asking(run: Callable[[GivenT, App, Caller], Awaitable[TurnResult]], given: type[GivenT]) -> AskingTool[GivenT]:
    name = run.__name__
    return AskingTool(
        name=name, mode="search", opens=True, run=run, input_model=given, title=name, description=f"Fixture {name}."
    )


FAILING_JOB, NAMED = asking(failing_job, NoInput), asking(test_tool_with_task, NameInput)
TURN_TOOLS = (
    asking(slow_compute, ComputeInput),
    FAILING_JOB,
    asking(protocol_error_job, NoInput),
    asking(confirm_delete, DeleteInput),
    asking(multi_input, NoInput),
    NAMED,
)
