"""Images on the wire of every provider that takes them: servers decode them and say what they see."""

from itertools import takewhile

import pytest
from tests.fixtures.contract import peer_of, said_in
from tests.fixtures.families import configured
from tests.fixtures.sight import BLIND, png

from conversation_mcp.errors import BlindModelError, ContextTooLargeError, ImagesRefusedError, ProviderRejectedError
from conversation_mcp.providers.definitions import Definition, load_definitions
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.limits import LIMITS
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.records.chat import ChatMessage, ImagePart

DEFINITIONS = load_definitions()
SEEING = [name for name, definition in DEFINITIONS.items() if definition.images.accepted]
RED, BLUE = ImagePart("image/png", png("red", 20, 10)), ImagePart("image/png", png("blue", 3, 4))
STARTS = {"image/jpeg": b"\xff\xd8\xff\xe0", "image/gif": b"GIF89a", "image/webp": b"RIFF\0\0\0\0WEBP"}


@pytest.fixture(params=SEEING)
def definition(request: pytest.FixtureRequest) -> Definition:
    return DEFINITIONS[str(request.param)]


def place_of(definition: Definition) -> str:
    return "messages" if definition.family in {"chat_completions", "messages"} else "input"


def test_only_an_api_that_documents_no_images_gets_none() -> None:
    assert set(DEFINITIONS) - set(SEEING) == {"perplexity"}


async def test_the_model_sees_each_image_right_before_the_text_that_it_came_with(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        answer = await peer.answer("Which is larger?", images=(RED, BLUE))
    assert " ".join(answer.content.split()).endswith("to: [a red 20x10 png] [a blue 3x4 png] Which is larger?")


async def test_a_later_question_sends_earlier_images_in_the_same_bytes_and_place(definition: Definition) -> None:
    before = (ChatMessage("user", "What is this?", (RED,)), ChatMessage("assistant", "A red field."))
    async with peer_of(definition) as peer:
        await peer.answer("What is this?", images=(RED,))
        await peer.answer("And this?", *before, images=(BLUE,))
        first, second = peer.server.requests
    place = place_of(definition)
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(first[place], second[place], strict=False)))
    assert len(same) == len(first[place])
    assert [type(said_in(item)) for item in second[place]] == [list, str, list]


async def test_every_media_type_that_is_said_to_be_taken_is_taken(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        for media_type in sorted(definition.images.media_types - {"image/png"}):
            answer = await peer.answer("What?", images=(ImagePart(media_type, STARTS[media_type]),))
            assert f"a {media_type.removeprefix('image/')}" in answer.content


@pytest.mark.slow
async def test_images_up_to_the_stated_limits_are_taken(definition: Definition) -> None:
    images = definition.images
    small = ImagePart("image/png", png())
    large = ImagePart("image/png", png(padding=images.max_bytes - 1_000))
    assert images.max_bytes - 1_000 < len(large.data) <= images.max_bytes
    async with peer_of(definition) as peer:
        assert "20x10" in (await peer.answer("One?", images=(large,))).content
        assert "red" in (await peer.answer("All?", images=(small,) * images.max_count)).content


BROKEN = {
    "what is no image": ImagePart("image/png", b"not an image"),
    "a cut image": ImagePart("image/png", RED.data[:-20]),
    "a type that it does not take": ImagePart("image/tiff", RED.data),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_refused_image_is_refused_once_and_never_as_a_conversation_that_is_too_long(
    definition: Definition, what: str
) -> None:
    async with peer_of(definition) as peer:
        with pytest.raises(ProviderRejectedError) as refused:
            await peer.answer("What?", images=(BROKEN[what],))
        assert peer.server.creates == 1
    assert not isinstance(refused.value, ContextTooLargeError)
    assert "mage" in refused.value.sentence()


@pytest.mark.parametrize("name", ["xai", "mistral"])
async def test_too_large_or_too_many_images_are_no_conversation_that_is_too_long(name: str) -> None:
    wrong = {"xai": (ImagePart("image/png", png(padding=10_485_761)),), "mistral": (RED,) * 9}
    async with peer_of(DEFINITIONS[name]) as peer:
        with pytest.raises(ProviderRejectedError) as refused:
            await peer.answer("What?", images=wrong[name])
    assert "mage" in refused.value.sentence()


async def test_the_server_of_a_blind_model_says_so_and_is_asked_once(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        with pytest.raises(ImagesRefusedError, match="only supported by certain models") as refused:
            await peer.answer("What?", model=BLIND, images=(RED,))
        assert peer.server.creates == 1
    assert refused.value.is_free
    assert refused.value.next_step() == "Ask without the images."


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (404, "No endpoints found that support image input"),
        (400, "Image input is not enabled for this model"),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (400, "small-1 is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one prompt."),
        (400, "this model does not support images"),
    ],
)
def test_a_model_without_eyes_is_known_by_the_words_of_its_server(status: int, words: str) -> None:
    errors = ErrorMap(configured("custom", "http://127.0.0.1:1/v1"), LIMITS.timeouts)
    assert isinstance(errors.of_create(WireProblem(status, cause=words)), ImagesRefusedError)


@pytest.mark.parametrize(
    "words", ["You uploaded an unsupported image.", "the image is not valid", "tools are not supported", "overloaded"]
)
def test_other_refusals_are_not_taken_for_it(words: str) -> None:
    errors = ErrorMap(configured("custom", "http://127.0.0.1:1/v1"), LIMITS.timeouts)
    assert not isinstance(errors.of_create(WireProblem(400, cause=words)), ImagesRefusedError)


async def test_without_images_every_content_is_a_text(definition: Definition) -> None:
    before = (ChatMessage("user", "one?"), ChatMessage("assistant", "One."))
    async with peer_of(definition) as peer:
        await peer.answer("two?", *before)
        (body,) = peer.server.requests
    assert [said_in(item) for item in body[place_of(definition)]] == ["one?", "One.", "two?"]


@pytest.mark.parametrize("model", ["fast", "openai/gpt-6-luna"])
async def test_perplexity_gets_no_image_and_no_question_that_has_one(model: str) -> None:
    async with peer_of(DEFINITIONS["perplexity"]) as peer:
        before = (ChatMessage("user", "What is this?", (RED,)), ChatMessage("assistant", "A red field."))
        for messages in ((), before):
            with pytest.raises(BlindModelError) as blind:
                await peer.answer("What?", *messages, model=model, images=() if messages else (RED,))
            assert not blind.value.was_sent
        assert peer.server.creates == 0


@pytest.mark.parametrize(("name", "detail"), [("openai", "high"), ("vllm", "auto"), ("xai", None), ("gemini", None)])
async def test_detail_is_given_where_the_provider_knows_it(name: str, detail: str | None) -> None:
    async with peer_of(DEFINITIONS[name]) as peer:
        await peer.answer("What?", images=(RED,))
        (body,) = peer.server.requests
    part = body[place_of(DEFINITIONS[name])][0]["content"][0]
    image = part["image_url"] if part["type"] == "image_url" else part
    assert image.get("detail") == detail


async def test_the_user_changes_one_limit_of_images_and_keeps_the_others() -> None:
    changed = load_definitions({"openai": {"images": {"detail": "low"}}})["openai"].images
    known = DEFINITIONS["openai"].images
    assert (changed.detail, changed.max_count, changed.tokens) == ("low", known.max_count, known.tokens)
