"""The calls of the Agent API."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from anyio import fail_after
from pydantic import SecretStr

from conversation_mcp import __version__
from conversation_mcp.errors import ProviderAuthError, ProviderTimeoutError, ProviderUnavailableError, RunLostError
from conversation_mcp.providers.base import Progress
from conversation_mcp.providers.http import LazyClient, Sent, Sleep, send_create
from conversation_mcp.providers.perplexity.errors import (
    ErrorMap,
    Problem,
    UnseenError,
    read_problem,
    unseen,
    unseen_in_time,
)
from conversation_mcp.providers.perplexity.facts import KEY_VARIABLE, PROVIDER, Facts
from conversation_mcp.providers.perplexity.output import is_response_id
from conversation_mcp.providers.perplexity.request import Draft, LevelField
from conversation_mcp.providers.wire.reading import JsonObject, objects_at, parse_object

if TYPE_CHECKING:
    import httpx

BAD_REQUEST, NOT_FOUND, SERVER_ERROR = 400, 404, 500


class AgentApi:
    """Sends calls to one base URL with one key, and remembers which name the level field has there."""

    def __init__(
        self, client: LazyClient, facts: Facts, *, base_url: str | None, key: SecretStr, retries: int, sleep: Sleep
    ) -> None:
        self._client = client
        self._facts = facts
        self._key = key
        self._retries = retries
        self._sleep = sleep
        self._errors = ErrorMap(facts, base_url)
        self._root = f"{_bare(base_url or facts.base_url)}/v1"
        self._address = f"{self._root}/agent"
        self._level_fields: tuple[LevelField, ...] = ("preset", "effort")

    async def create(self, draft: Draft) -> AsyncGenerator[Progress | Sent]:
        """Send a create call and yield its successful response last; closing the generator closes the response.

        Raises:
            ProviderError: the provider did not take it; `maybe_billed` where it may have.
        """
        for level_field in self._level_fields:
            is_renamed = False
            async with aclosing(self._attempt(draft.payload(level_field))) as steps:
                async for step in steps:
                    if isinstance(step, Problem):
                        is_renamed = step.status == BAD_REQUEST and step.param == "preset" == level_field
                        if not is_renamed:
                            raise self._errors.of_create(step)
                        continue
                    if isinstance(step, Sent) and draft.asked.preset and level_field == "effort":
                        self._level_fields = ("effort",)
                    yield step
            if not is_renamed:
                return

    async def _attempt(self, payload: dict[str, object]) -> AsyncGenerator[Progress | Sent | Problem]:
        client = await self._client.get()
        import httpx  # noqa: PLC0415 -- costs start-up time

        send = partial(self._post, client, payload)
        tries = send_create(send, retries=self._retries, limits=self._facts.retry, sleep=self._sleep)
        try:
            async with aclosing(tries) as steps:
                async for step in steps:
                    if isinstance(step, Sent) and not step.response.is_success:
                        yield await self._problem(step.response)
                    else:
                        yield step
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._errors.of_transport(error) from error

    async def _post(self, client: "httpx.AsyncClient", payload: dict[str, object]) -> "httpx.Response":
        timeout = self._timeout(self._facts.timeouts.silence_seconds)
        request = client.build_request("POST", self._address, json=payload, headers=self._headers(), timeout=timeout)
        return await client.send(request, stream=True)

    async def created(self, response: "httpx.Response") -> JsonObject:
        """Return the body of a create call that is not streamed."""
        import httpx  # noqa: PLC0415 -- costs start-up time

        try:
            body = parse_object(await response.aread())
        except httpx.HTTPError as error:
            raise self._errors.of_transport(error) from error
        if body is None:
            raise ProviderUnavailableError(f"{PROVIDER} answered with something else than JSON.", maybe_billed=True)
        return body

    async def look(self, response_id: str) -> JsonObject:
        """Return a run as it is now.

        Raises:
            RunLostError: the provider does not know it.
            UnseenError: the provider could not be asked.
            ProviderTimeoutError: it did not answer in time.
        """
        if not is_response_id(response_id):
            raise RunLostError(PROVIDER)
        response = await self._call("GET", response_id)
        if response.status_code in {BAD_REQUEST, NOT_FOUND}:
            raise RunLostError(PROVIDER)
        if not response.is_success:
            raise self._errors.of_look(await self._problem(response))
        body = parse_object(response.content)
        if body is None:
            raise UnseenError("the answer is no JSON")
        return body

    async def cancel(self, response_id: str) -> None:
        """Ask once to stop a run that was looked at; harmless when it has ended meanwhile. Raises as `look`."""
        response = await self._call("POST", f"{response_id}/cancel")
        if not response.is_success and response.status_code not in {BAD_REQUEST, NOT_FOUND}:
            raise self._errors.of_look(await self._problem(response))

    async def count_models(self) -> int:
        """Return how many models are offered.

        Raises:
            ProviderError: the key is refused, or nothing like an answer comes.
        """
        client = await self._client.get()
        import httpx  # noqa: PLC0415 -- costs start-up time

        limit_seconds = self._facts.timeouts.look_seconds
        timeout, address = self._timeout(limit_seconds), f"{self._root}/models"
        try:
            with fail_after(limit_seconds):
                response = await client.get(address, headers=self._headers(), timeout=timeout)
        except (TimeoutError, httpx.ReadTimeout):
            raise ProviderTimeoutError(PROVIDER, "list its models", limit_seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._errors.of_transport(error) from error
        if response.status_code >= SERVER_ERROR:
            raise ProviderUnavailableError(f"{PROVIDER} failed with HTTP {response.status_code}.")
        if not response.is_success:
            raise self._errors.of_create(await self._problem(response))
        body = parse_object(response.content)
        if body is None:
            raise ProviderUnavailableError(f"{PROVIDER} answered with something else than JSON.")
        return len(objects_at(body, "data"))

    async def _call(self, method: str, path: str) -> "httpx.Response":
        client = await self._client.get()
        import httpx  # noqa: PLC0415 -- costs start-up time

        limit_seconds = self._facts.timeouts.look_seconds
        try:
            with fail_after(limit_seconds):
                return await client.request(
                    method,
                    f"{self._address}/{path}",
                    headers=self._headers(),
                    timeout=self._timeout(limit_seconds),
                )
        except ProviderAuthError as error:
            raise unseen(error) from None
        except (TimeoutError, httpx.TimeoutException):
            raise unseen_in_time("show the run", limit_seconds) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise self._errors.of_transport(error) from error
        except httpx.HTTPError as error:
            raise UnseenError("the connection failed") from error

    async def _problem(self, response: "httpx.Response") -> Problem:
        return await read_problem(response, self._key.get_secret_value())

    def _headers(self) -> dict[str, str]:
        key = self._key.get_secret_value()
        if not key or not (key.isascii() and key.isprintable()) or " " in key:
            raise ProviderAuthError(PROVIDER, KEY_VARIABLE)
        return {"Authorization": f"Bearer {key}", "X-Pplx-Integration": f"conversation-mcp/{__version__}"}

    def _timeout(self, silence_seconds: float) -> "httpx.Timeout":
        import httpx  # noqa: PLC0415 -- costs start-up time

        return httpx.Timeout(silence_seconds, connect=self._facts.timeouts.connect_seconds)


def _bare(base_url: str) -> str:
    return base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")
