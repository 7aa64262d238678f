"""The calls that all providers with an address share: a create call, a look at a run, the list of models."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING

from anyio import fail_after, to_thread

from conversation_mcp.errors import (
    ConversationMCPError,
    ProviderAuthError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RunLostError,
)
from conversation_mcp.providers.base import ListedModel, Progress
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Configured, is_web_address
from conversation_mcp.providers.wire.bodies import ACCEPTED, UnreadableBodyError, size_of, whole
from conversation_mcp.providers.wire.errors import ErrorMap, UnseenError
from conversation_mcp.providers.wire.guard import Guard
from conversation_mcp.providers.wire.http import Sent, Sleep, send_create
from conversation_mcp.providers.wire.json_values import JsonObject, parse_first_object, parse_object
from conversation_mcp.providers.wire.limits import Limits
from conversation_mcp.providers.wire.models import listed_models
from conversation_mcp.providers.wire.problems import BAD_REQUEST, NOT_FOUND, SERVER_ERROR, WireProblem, read_problem
from conversation_mcp.text import counted

if TYPE_CHECKING:
    import httpx

NO_HEADERS: Mapping[str, str] = {}
SMALL_BYTES = 100_000
"""A body of this size is encoded within a millisecond, which is less than other work waits for a thread."""
HINT_SECONDS = 3
KEPT_HEADERS = ("retry-after", "retry-after-ms", "date")


class Api:
    """Sends calls to one base URL, with one key or none. `errors` translates refusals."""

    def __init__(
        self,
        client: LazyClient,
        configured: Configured,
        limits: Limits,
        *,
        retries: int,
        sleep: Sleep,
        headers: Mapping[str, str] = NO_HEADERS,
        special: Callable[[WireProblem], ProviderError | None] = lambda _: None,
    ) -> None:
        self._client = client
        self._configured = configured
        self._retries = retries
        self._sleep = sleep
        self._more_headers = headers
        silence_seconds = configured.definition.quirks.silence_seconds
        self.limits = limits.with_timeouts(silence_seconds=silence_seconds) if silence_seconds else limits
        self.title = configured.definition.title
        self.errors = ErrorMap(configured, self.limits.timeouts, special)

    async def create(self, path: str, payload: Mapping[str, object]) -> AsyncGenerator[Progress | Sent | WireProblem]:
        """Send a create call; the last item is its successful response, or the problem that the server reports.

        Closing the generator closes the response.

        Raises:
            ProviderError: the provider could not be asked, or did not answer; `maybe_billed` says if that may cost.
        """
        client = await self._client.get(self._configured.base_url)
        import httpx  # loaded already by the client, in a thread

        send = partial(self._post, client, path, payload)
        tries = send_create(send, retries=self._retries, limits=self.limits.retry, sleep=self._sleep)
        try:
            async with aclosing(tries) as steps:
                async for step in steps:
                    if isinstance(step, Sent) and not step.response.is_success:
                        yield await self._problem(step.response)
                    else:
                        yield step
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.errors.of_transport(error) from error

    async def _post(self, client: "httpx.AsyncClient", path: str, payload: Mapping[str, object]) -> "httpx.Response":
        timeout = self._timeout(self.limits.timeouts.silence_seconds)
        build = partial(
            client.build_request, "POST", self._address(path), json=payload, headers=self._headers(), timeout=timeout
        )
        # In a thread if it is large: a body with images can have tens of megabytes.
        request = build() if size_of(payload) <= SMALL_BYTES else await to_thread.run_sync(build)
        return await client.send(request, stream=True)

    async def created(self, response: "httpx.Response") -> JsonObject:
        """Return the body of a create call that is not streamed.

        Raises:
            ProviderError: the body broke off, is not JSON, or reports a problem.
        """
        import httpx

        try:
            body = parse_first_object(await whole(response))
        except httpx.HTTPError as error:
            raise self.errors.of_transport(error) from error
        except UnreadableBodyError as error:
            raise ProviderUnavailableError(f"{self.title} {error}.", maybe_billed=True) from None
        if body is None:
            raise ProviderUnavailableError(f"{self.title} answered with something other than JSON.", maybe_billed=True)
        # A body with an id is a run, even one with an error: the run is watched, and says itself what went wrong.
        if problem := None if "id" in body else self.errors.problem_in(body):
            raise self.errors.of_body(problem)
        return body

    async def look(self, path: str) -> JsonObject:
        """Return a run in its current state.

        Raises:
            RunLostError: the provider does not know the run.
            UnseenError: the provider could not be asked.
            ProviderTimeoutError: the provider did not answer in time.
        """
        response = await self._call("GET", path)
        if response.status_code in {BAD_REQUEST, NOT_FOUND}:  # some servers answer 400 to an id they do not know
            raise RunLostError(self.title)
        if not response.is_success:
            raise self.errors.of_look(await self._problem(response))
        body = parse_object(response.content)
        if body is None:
            raise UnseenError(self.title, "the answer is not JSON")
        return body

    async def cancel(self, path: str) -> None:
        """Ask once to stop a run that was just looked at; harmless if it has ended since. Raises as `look`."""
        response = await self._call("POST", path)
        if not response.is_success and response.status_code not in {BAD_REQUEST, NOT_FOUND}:
            raise self.errors.of_look(await self._problem(response))

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models that the provider lists; raises as `listing`."""
        body = await self.listing("data", within_seconds)
        guard = Guard(self.errors.secret)
        return tuple(model._replace(id=guard.clean(model.id)) for model in listed_models(body))

    async def listing(
        self, field: str, within_seconds: float | None = None, *, params: Mapping[str, str] | None = None
    ) -> JsonObject:
        """Return the list of models, which has this field. A local server at its usual address must answer quickly.

        Only the server's time counts, not that of loading the HTTP client.

        Raises:
            ProviderError: the key is refused, or no usable answer comes in time.
        """
        timeouts = self.limits.timeouts
        models_path = self._configured.definition.quirks.models_path
        usual_seconds = timeouts.look_seconds if self._configured.is_certain else timeouts.probe_seconds
        limit_seconds = usual_seconds if within_seconds is None else min(within_seconds, usual_seconds)
        body = await self._known("GET", models_path, "list its models", limit_seconds, params=params)
        # LM Studio answers 200 with an error at a path that it does not have; that is a 404 in other words.
        if field not in body:
            raise self.errors.of_create(self.errors.problem_in(body, NOT_FOUND) or WireProblem(NOT_FOUND))
        return body

    async def call_free(self, path: str, payload: Mapping[str, object], what: str) -> JsonObject:
        """Return the answer to a call that costs nothing; raises as `listing`."""
        return await self._known("POST", path, what, self.limits.timeouts.look_seconds, payload=payload)

    async def hint(self, path: str) -> JsonObject:
        """Return facts that a question can do without; empty if they do not come soon."""
        with suppress(ConversationMCPError):
            return await self._known("GET", path, "say what the model can do", HINT_SECONDS)
        return {}

    async def _known(
        self,
        method: str,
        path: str,
        what: str,
        limit_seconds: float,
        *,
        params: Mapping[str, str] | None = None,
        payload: Mapping[str, object] | None = None,
    ) -> JsonObject:
        client = await self._client.get(self._configured.base_url)
        import httpx

        address, headers, timeout = self._address(path), self._headers(), self._timeout(limit_seconds)
        try:
            url = httpx.URL(address).copy_merge_params(params or {})
            build = partial(client.build_request, method, url, headers=headers, timeout=timeout, json=payload)
            # In a thread: a body with images can have tens of megabytes.
            request = await to_thread.run_sync(build) if payload else build()
            with fail_after(limit_seconds):
                response = await _fetched(client, request)
        except (TimeoutError, httpx.ReadTimeout):
            raise ProviderTimeoutError(self.title, what, limit_seconds) from None
        except UnreadableBodyError as error:
            raise ProviderUnavailableError(f"{self.title} {error}.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.errors.of_transport(error) from error
        if response.status_code >= SERVER_ERROR:
            raise ProviderUnavailableError(f"{self.title} failed with HTTP {response.status_code}.")
        if not response.is_success:
            raise self.errors.of_create(await self._problem(response))
        body = parse_object(response.content)
        if body is None:
            raise ProviderUnavailableError(f"{self.title} answered with something other than JSON.")
        return body

    async def check(self) -> str:
        """List the models and return their number in words; raises as `list_models`."""
        count = len(await self.list_models())
        return counted(count, "model")

    async def _call(self, method: str, path: str) -> "httpx.Response":
        client = await self._client.get(self._configured.base_url)
        import httpx

        seconds = self.limits.timeouts.look_seconds
        try:
            with fail_after(seconds):
                request = client.build_request(
                    method, self._address(path), headers=self._headers(), timeout=self._timeout(seconds)
                )
                return await _fetched(client, request)
        # The key cannot be sent. The run is there all the same, and must not be given up for that.
        except ProviderAuthError as error:
            raise self.errors.unseen(error) from None
        except (TimeoutError, httpx.TimeoutException):
            raise self.errors.unseen_in_time("show the run", seconds) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise self.errors.of_transport(error) from error
        except UnreadableBodyError as error:
            raise UnseenError(self.title, f"it {error}") from None
        except httpx.HTTPError as error:
            raise UnseenError(self.title, "the connection failed") from error

    async def _problem(self, response: "httpx.Response") -> WireProblem:
        return await read_problem(response, self.errors.secret)

    def _address(self, path: str) -> str:
        if not is_web_address(self._configured.base_url):
            raise self.errors.no_address()
        return self._configured.url(path)

    def _headers(self) -> dict[str, str]:
        key = self.errors.secret
        more = {"Accept-Encoding": ACCEPTED, **self._more_headers}
        if self._configured.key is None:
            return more
        if not key or not (key.isascii() and key.isprintable()) or " " in key:  # cannot be sent in a header
            raise self.errors.auth()
        key_header = self._configured.definition.quirks.key_header
        return {key_header: key, **more} if key_header else {"Authorization": f"Bearer {key}", **more}

    def _timeout(self, silence_seconds: float) -> "httpx.Timeout":
        import httpx

        return httpx.Timeout(silence_seconds, connect=min(self.limits.timeouts.connect_seconds, silence_seconds))


async def _fetched(client: "httpx.AsyncClient", request: "httpx.Request") -> "httpx.Response":
    """Send the request and return the response with its whole body, within the limits of `bodies.py`."""
    import httpx

    response = await client.send(request, stream=True)
    try:
        content = await whole(response)
    finally:
        await response.aclose()
    # The content is decompressed already, so headers that describe it must not reach the new response.
    told = {name: value for name, value in response.headers.items() if name in KEPT_HEADERS}
    return httpx.Response(response.status_code, headers=told, content=content)
