"""How many tokens an image takes, by the formulas in the data file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.providers.definitions import load_definitions
from conversation_mcp.providers.images import UNKNOWN_IMAGES, USUAL, Area, Flat, Patches, Tiles, image_tokens

DEFINITIONS = load_definitions()
SIDE = st.integers(min_value=1, max_value=60_000)


@pytest.mark.parametrize(
    ("provider", "model", "size", "tokens"),
    [
        # The examples of the maker's own documentation.
        ("openai", "gpt-4o", (1024, 1024), 765),
        ("openai", "gpt-4o", (2048, 4096), 1105),
        ("openai", "GPT-4o", (513, 500), 425),
        # Published measurements.
        ("openai", "gpt-6-sol", (256, 256), 77),
        ("openai", "gpt-6-sol", (1024, 1024), 1229),
        ("openai", "gpt-6-sol", (1920, 1080), 2448),
        ("openai", "gpt-4.1-nano", (1800, 2400), 3779),
        ("openai", "gpt-5-mini", (64, 32), 4),
        ("gemini", "gemini-2.5-pro", (384, 384), 258),
        ("gemini", "gemini-2.5-pro", (1536, 769), 1032),
        ("gemini", "gemini-3-pro", (4032, 3024), 1120),
        ("xai", "grok-4", (449, 448), 768),
        ("mistral", "mistral-medium-latest", (1540, 1540), 3241),
    ],
)
def test_the_formula_of_a_model_gives_what_its_maker_counts(
    provider: str, model: str, size: tuple[int, int], tokens: int
) -> None:
    assert image_tokens(DEFINITIONS[provider].images, model, *size) == tokens


def test_a_maker_in_front_of_a_name_does_not_matter() -> None:
    images = DEFINITIONS["openai"].images
    assert image_tokens(images, "openai/gpt-4o", 512, 512) == image_tokens(images, "gpt-4o", 512, 512)


@given(SIDE, SIDE)
def test_without_a_formula_the_most_expensive_of_the_usual_ones_counts(width: int, height: int) -> None:
    tokens = image_tokens(UNKNOWN_IMAGES, None, width, height)
    assert tokens == max(formula.tokens(width, height) for formula in USUAL)


@given(SIDE, SIDE)
def test_an_image_takes_at_least_one_token_and_does_not_care_which_way_it_is_turned(width: int, height: int) -> None:
    for definition in DEFINITIONS.values():
        for formula in (*definition.images.tokens, *USUAL):
            assert formula.tokens(width, height) >= 1
            assert formula.tokens(width, height) == formula.tokens(height, width)


def test_each_kind_counts_what_it_says() -> None:
    assert Tiles(kind="tiles", tile=100, each=7, base=1).tokens(101, 100) == 15
    assert Patches(kind="patches", side=10, factor=1.5, max_patches=4).tokens(1000, 1000) == 6
    assert Patches(kind="patches", side=10, box=20).tokens(1000, 500) == 2
    assert Area(kind="area", pixels_per_token=750).tokens(1000, 1000) == 1334
    assert Flat(kind="flat", each=9).tokens(1, 50_000) == 9
