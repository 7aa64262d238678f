"""Images: their kind and size by their bytes, their limits, and smaller versions of them."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.fixtures.attached_files import Desk, write
from tests.fixtures.images import gif_of, jpeg_of, png_of, webp_of

from conversation_mcp.attaching.contents import ImageContent
from conversation_mcp.attaching.headers import header_of
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.shrinking import shrunk
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings

MADE: dict[str, Callable[[int, int], bytes]] = {
    "image/png": png_of,
    "image/jpeg": jpeg_of,
    "image/gif": gif_of,
    "image/webp": webp_of,
}
LIES = [
    png_of(3, 2)[:-4],
    png_of(3, 2).replace(b"\0\0\0\3", b"\0\0\0\4", 1),
    png_of(0, 2),
    jpeg_of(3, 2)[:-2],
    jpeg_of(3, 2)[:30],
    jpeg_of(0, 2),
    gif_of(3, 2)[:-6],
    gif_of(3, 2, (50_000, 50_000)),
    webp_of(3, 2)[:-1],
    webp_of(300, 200, canvas=(3, 2)),
    b"RIFF\4\0\0\0WEBP",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
]


def saved(image: Image.Image, form: str, **options: object) -> ImageContent:
    file = BytesIO()
    image.save(file, form, **options)
    return ImageContent("/a/picture", file.getvalue(), f"image/{form.lower()}", image.width, image.height)


def opened(image: ImageContent) -> Image.Image:
    return Image.open(BytesIO(image.data))


@pytest.mark.parametrize("media_type", MADE)
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (640, 480), (16_000, 1)])
def test_kind_and_size_are_read_from_the_header(media_type: str, size: tuple[int, int]) -> None:
    assert header_of(MADE[media_type](*size)) == (media_type, *size)


def test_webp_without_loss_or_with_a_canvas_has_a_size_too() -> None:
    assert header_of(webp_of(640, 480, "VP8L")) == ("image/webp", 640, 480)
    assert header_of(webp_of(640, 480, canvas=(640, 480))) == ("image/webp", 640, 480)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_header_says_what_a_decoder_says(form: str) -> None:
    image = saved(Image.new("RGB", (37, 23), "red"), form)

    assert header_of(image.data) == (image.media_type, 37, 23)


@pytest.mark.parametrize("data", LIES)
def test_an_image_that_is_cut_off_or_contradicts_itself_is_damaged(data: bytes) -> None:
    with pytest.raises(RefusedError, match="a damaged image"):
        header_of(data)


@given(st.sampled_from([make(30, 20) for make in MADE.values()]), st.data())
def test_no_bytes_make_the_parser_fail_otherwise(image: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(image) - 1))
    changed = image[:place] + data.draw(st.binary(max_size=4)) + image[place + data.draw(st.integers(0, 4)) :]
    with suppress(RefusedError):
        assert min(header_of(changed)[1:]) > 0


async def test_an_image_is_read_by_its_bytes_whatever_its_name(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.jpg": png_of(3, 2)}))

    (image,) = (await desk.read(images=[tmp_path / "a.jpg"])).images

    assert (image.media_type, image.width, image.height, image.data) == ("image/png", 3, 2, png_of(3, 2))


async def test_of_a_folder_or_pattern_only_the_images_are_meant(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.png": png_of(1, 1), "b.txt": "x", "c/d.gif": gif_of(1, 1), "e.png": "x"}))

    read = await desk.read(images=[tmp_path, f"{tmp_path}/*.png"])

    assert [Path(image.path).name for image in read.images] == ["a.png", "d.gif"]
    assert set(desk.reasons(read)) == {"e.png"}


async def test_what_was_named_as_an_image_is_left_out_as_one(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.png": png_of(1, 1), "b.png": "x", "c/d.png": "x", "e.txt": b"\0"}))

    read = await desk.read(tmp_path / "e.txt", images=[tmp_path / name for name in ("a.png", "b.png", "c", "none")])

    left_out = {Path(one.path).name: one.is_image for one in read.left_out}
    assert left_out == {"b.png": True, "d.png": True, "none": True, "e.txt": False}


async def test_an_image_among_files_is_left_out_with_what_to_do(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.png": png_of(3, 2), "b.txt": jpeg_of(3, 2)}))

    with pytest.raises(InvalidInputError) as raised:
        await desk.read(tmp_path / "a.png", tmp_path / "b.txt")
    assert raised.value.message.count("an image; name it as an image") == 2


async def test_a_text_among_images_is_none(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.png": "text"}))

    with pytest.raises(InvalidInputError, match="those are PNG, JPEG, WebP and GIF") as raised:
        await desk.read(images=[tmp_path / "a.png"])
    assert raised.value.field == "images"


async def test_an_image_may_come_from_a_pipe(tmp_path: Path) -> None:
    assert (await Desk(tmp_path).read(images=["-"], pipe=gif_of(3, 2))).images[0].path == "stdin"


@pytest.mark.parametrize("size", [(50_000, 50_000), (50_000, 10), (9_000, 9_000)])
async def test_a_giant_image_is_refused_by_its_header(tmp_path: Path, size: tuple[int, int]) -> None:
    desk = Desk(write(tmp_path, {"a.png": png_of(*size)}))

    with pytest.raises(InvalidInputError, match=r"an image (of more than 64,000,000|with a side of more than 30,000)"):
        await desk.read(images=[tmp_path / "a.png"])


async def test_an_image_of_too_many_bytes_is_refused(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.png": png_of(3, 2)}), Settings(max_document_bytes=10))

    with pytest.raises(InvalidInputError, match="larger than 10 bytes"):
        await desk.read(images=[tmp_path / "a.png"])


def test_an_image_within_the_limits_stays_as_it_is() -> None:
    image = saved(Image.new("RGB", (40, 20)), "PNG")

    assert shrunk(image, 40, len(image.data)) is image


@pytest.mark.parametrize(("form", "shown"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/png")])
def test_an_image_that_is_too_wide_is_made_smaller(form: str, shown: str) -> None:
    small = shrunk(saved(Image.new("RGB", (400, 200), "red"), form), 100, 1 << 20)

    assert (small.width, small.height, small.media_type, small.path) == (100, 50, shown, "/a/picture")
    assert header_of(small.data) == (shown, 100, 50)


def test_an_image_of_too_many_bytes_loses_detail_until_it_fits() -> None:
    small = shrunk(saved(Image.effect_noise((512, 512), 90).convert("RGB"), "PNG"), 512, 20_000)

    assert len(small.data) <= 20_000
    assert opened(small).size == (small.width, small.height)


def test_what_is_transparent_stays_transparent() -> None:
    small = shrunk(saved(Image.new("RGBA", (400, 200), (255, 0, 0, 0)), "PNG"), 100, 1 << 20)

    assert opened(small).convert("RGBA").getchannel("A").getextrema() == (0, 0)


def test_a_photograph_that_was_turned_is_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6

    small = shrunk(saved(Image.new("RGB", (400, 200)), "JPEG", exif=exif), 100, 1 << 20)

    assert (small.width, small.height) == (50, 100)


def test_of_an_animation_the_first_frame_is_shown() -> None:
    red, blue = (Image.new("RGB", (400, 200), colour) for colour in ("red", "blue"))

    small = shrunk(saved(red, "GIF", save_all=True, append_images=[blue]), 100, 1 << 20)

    assert opened(small).convert("RGB").getpixel((1, 1)) == (255, 0, 0)


def test_an_image_whose_pixels_are_missing_or_of_another_size_is_refused() -> None:
    hollow = ImageContent("/a/b.png", png_of(4_000, 4_000), "image/png", 4_000, 4_000)

    with pytest.raises(InvalidInputError, match="is damaged"):
        shrunk(hollow, 100, 1 << 20)
    with pytest.raises(InvalidInputError, match="contradicts itself"):
        shrunk(replace(hollow, width=3_000), 100, 1 << 20)


def test_an_image_that_cannot_become_small_enough_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot be made smaller than 10 bytes"):
        shrunk(saved(Image.new("RGB", (400, 200)), "PNG"), 100, 10)


def test_without_pillow_a_large_image_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    image = saved(Image.new("RGB", (400, 200)), "PNG")
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert shrunk(image, 400, 1 << 20) is image
    with pytest.raises(InvalidInputError, match="needs Pillow") as raised:
        shrunk(image, 100, 1 << 20)
    assert "pip install 'conversation-mcp[images]'" in raised.value.sentence()
