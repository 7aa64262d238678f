"""What servers answer instead of an answer, in all the shapes they have for it, and what a user reads then."""

from typing import Any

import httpx
import pytest
from tests.fixtures.families import configured

from conversation_mcp.errors import ContextTooLargeError, ProviderError
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.limits import LIMITS
from conversation_mcp.providers.wire.problems import WireProblem, problem_in, read_problem

ERRORS = ErrorMap(configured("custom", "https://peer.example/v1"), LIMITS.timeouts)
OWN_KEY = "AIza-0123456789"


async def problem_of(status: int, text: str) -> WireProblem:
    return await read_problem(httpx.Response(status, text=text), OWN_KEY)


def error_of(status: int, message: str) -> ProviderError:
    problem = problem_in({"error": {"message": message}}, status)
    assert problem
    return ERRORS.of_create(problem)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"error": {"message": "no such field", "type": "x", "code": 400, "param": null}}', "no such field"),
        ('{"error": "Unexpected endpoint"}', "Unexpected endpoint"),
        ('[{"error": {"message": "array of one", "status": "INVALID_ARGUMENT"}}]', "array of one"),
        ('{"detail": "plain detail"}', "plain detail"),
        ('{"detail": [{"loc": ["body", "stream_options", "x"], "msg": "extra"}]}', "stream_options.x: extra"),
        ('{"message": {"detail": [{"loc": ["body", "a"], "msg": "extra"}]}}', "a: extra"),
        ('{"object": "error", "message": "the model does not exist", "code": 404}', "the model does not exist"),
        ('{"error": [{"message": "in a list"}]}', "in a list"),
        ('{"error": ["words in a list"]}', "words in a list"),
        ('{"error": {"error": {"message": "within another"}}}', "within another"),
        ('{"error": {"detail": [{"loc": ["body", "a"], "msg": "extra"}]}}', "a: extra"),
        ('{"error": {"errors": [{"message": "the only one"}]}}', "the only one"),
        ('{"errors": [{"code": 7003, "message": "of many"}]}', "of many"),
        ('{"detail": {"error": {"message": "in a detail"}}}', "in a detail"),
        ('{"error": "{\\"message\\": \\"JSON as text\\"}"}', "JSON as text"),
        ('{"error": {"message": "{\\"error\\": {\\"message\\": \\"passed on\\"}}"}}', "passed on"),
        ('{"error": {"msg": "short name"}}', "short name"),
        ('{"error": {"code": "model_not_found"}}', "model_not_found"),
        ("<html><title>502</title></html>", ""),
        ('{"error": {"message": "<b>bold</b> words"}}', ""),
        ("", ""),
        ("Model is loading", "Model is loading"),
        (f"Key {OWN_KEY} is not valid.", "Key [redacted] is not valid"),
        ('{"error": {"message": "cut', ""),
        ('{"error_code": 17, "error_msg": "in a message"}', "in a message"),
        ('{"err": "in short"}', "in short"),
        ('{"fault": {"faultstring": "of a gateway", "detail": {"errorcode": "x"}}}', "of a gateway"),
        ('{"choices": null, "base_resp": {"status_code": 1004, "status_msg": "in a response"}}', "in a response"),
        ('{"Message": "in capitals"}', "in capitals"),
        ("[]", ""),
        (f'{{"error": "key {OWN_KEY} is not valid"}}', "key [redacted] is not valid"),
        ('{"error": {"message": "line\\none\\u0000 two."}}', "line one two"),
    ],
)
async def test_the_cause_is_one_line_whatever_the_shape(text: str, cause: str) -> None:
    assert (await problem_of(400, text)).cause == cause


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.", "(9,000 tokens"),
        ("This model's maximum prompt length is 131072 but the request contains 150000 tokens.", "(150,000 tokens"),
        ("Your input exceeds the context window of this model.", ""),
        ("The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", ""),
        ("prompt is too long: 209000 tokens > 200000 maximum", ""),
    ],
)
def test_a_conversation_that_is_too_long_is_recognised_by_what_they_say(message: str, numbers: str) -> None:
    error = error_of(400, message)
    assert isinstance(error, ContextTooLargeError)
    assert numbers in error.message


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"code": 402, "message": "Insufficient credits"}}, 402),
        ({"error": {"code": "invalid_api_key", "message": "x"}}, 401),
        ({"error": {"type": "invalid_request_error", "message": "x"}}, 400),
        ({"error": {"code": "503", "message": "x"}}, 503),
        ({"object": "error", "message": "x", "code": 404}, 404),
        ({"error": {"type": "internal", "message": "x"}}, 200),
        ({"error": {"code": 7, "message": "x"}}, 200),
        ({"error": "Unexpected endpoint or method. (POST /x)"}, 404),
        ({"error": "something else"}, 200),
        ({"error": {"error": {"message": "x", "code": 429}}}, 429),
        ({"detail": {"message": "x", "code": 400}}, 400),
        ({"error": '{"message": "x", "type": "invalid_request_error"}'}, 400),
        ({"errors": [{"message": "x", "status": 503}]}, 503),
    ],
)
def test_an_error_under_a_status_of_success_has_the_number_that_it_gives(body: dict[str, Any], status: int) -> None:
    problem = problem_in(body)
    assert problem
    assert problem.status == status


@pytest.mark.parametrize("body", [{}, {"error": None}, {"error": {}}, {"error": ""}, {"choices": []}, {"detail": True}])
def test_no_error_is_no_problem(body: dict[str, Any]) -> None:
    assert problem_in(body) is None
