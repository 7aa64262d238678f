"""Which of Anthropic's models a name stands for."""

import pytest
from tests.fixtures.choosing import providers, told
from tests.fixtures.models import FakeModels


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("anthropic:opus", "claude-opus-5-5"),
        ("claude-haiku-4-5", "claude-haiku-4-5"),
        ("anthropic:claude-sonnet-9", "claude-sonnet-9"),
        ("auto:fast", "claude-haiku-5-5"),
        ("auto:balanced", "claude-sonnet-5-5"),
        ("auto:deep", "claude-opus-5-5"),
    ],
)
async def test_a_family_and_auto_stand_for_the_newest_of_its_models(asked: str, model: str) -> None:
    choice = await providers(FakeModels(name="anthropic")).choose("chat", asked)
    assert told(choice) == ("anthropic", model)


async def test_a_family_is_asked_at_its_maker_before_anybody_else() -> None:
    both = providers(FakeModels(name="openrouter"), FakeModels(name="anthropic"))
    assert told(await both.choose("chat", "opus")) == ("anthropic", "claude-opus-5-5")
