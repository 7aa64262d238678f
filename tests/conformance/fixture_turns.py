"""The suite's fixtures of the tasks extension: real questions to a provider that sleeps, fails or crashes as told."""

from collections.abc import AsyncGenerator

import anyio

from conversation_mcp.app import App
from conversation_mcp.errors import ProviderUnavailableError, RunCancelledError
from conversation_mcp.providers.base import Answer, Event, Finished, Mode, Progress, Request, Started, StillRunning
from conversation_mcp.tools.rendering import render_turn
from conversation_mcp.tools.tool import ASKS, Input, Tool
from conversation_mcp.turns.asking import Ask, Caller
from conversation_mcp.turns.result import TurnResult


class SleepingProvider:
    """Takes its behaviour from the model's name: `sleep/2`, `fail/1`, `crash/1`, with the seconds it takes."""

    name = "sleeping"
    abilities: frozenset[Mode] = frozenset(("search", "deep_research"))

    def serves(self, model: str) -> bool:
        return "/" in model

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        kind, _, seconds = (request.model or "sleep/0").partition("/")
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


async def slow_compute(given: ComputeInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "slow_compute", given.label, f"sleep/{given.seconds:g}")


async def failing_job(_given: NoInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "failing_job", "Fail?", "fail/1")


async def protocol_error_job(_given: NoInput, app: App, caller: Caller) -> TurnResult:
    return await ask(app, caller, "protocol_error_job", "Crash?", "crash/0.2")


async def ask(app: App, caller: Caller, tool: str, question: str, model: str) -> TurnResult:
    return await app.turns.start(Ask(tool, "search", question, "fast", model), caller)


SLOW_COMPUTE = Tool("slow_compute", slow_compute, render_turn, ComputeInput, "Compute", "Sleep, then answer.", ASKS)
FAILING_JOB = Tool("failing_job", failing_job, render_turn, NoInput, "Fail", "Fail after a second.", ASKS)
CRASHING_JOB = Tool("protocol_error_job", protocol_error_job, render_turn, NoInput, "Crash", "Crash.", ASKS)
TURN_TOOLS = (SLOW_COMPUTE, FAILING_JOB, CRASHING_JOB)
