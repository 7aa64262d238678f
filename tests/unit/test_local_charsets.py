"""Which encoding a text file is read in: what is declared, what is plain to see, and never a guess."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.documents import answer_of, local, written

from conversation_mcp.documents.charsets import UnknownEncodingError, decoded

RUSSIAN = "Максимальный объём чайника составляет полтора литра."
CHINESE = "水壶的最大容量是一点五升。"
JAPANESE = "やかんの最大容量は一・五リットルです。"
POLISH = "Pojemność czajnika to półtora litra. Żółty przycisk włącza grzanie."
META = '<html><head><meta charset="{}"></head><body><p>{}</p></body></html>'
HTTP_EQUIV = '<meta http-equiv="Content-Type" content="text/html; charset={}"><p>{}</p>'


@pytest.mark.parametrize(
    ("suffix", "template", "declared", "codec", "text"),
    [
        (".html", META, "gbk", "gbk", CHINESE),
        (".html", META, "gb2312", "gbk", CHINESE + "镕"),
        (".htm", META, "Shift_JIS", "cp932", JAPANESE + "①"),
        (".html", META, "iso-2022-jp", "iso2022_jp", JAPANESE),
        (".html", META, "big5", "big5", "水壺的最大容量"),
        (".html", META, "euc-kr", "cp949", "주전자의 최대 용량"),
        (".html", META, "iso-8859-1", "cp1252", "L’été “déjà” 5 €"),
        (".html", HTTP_EQUIV, "windows-1251", "cp1251", RUSSIAN),
        (".html", HTTP_EQUIV, "koi8-r", "koi8-r", RUSSIAN),
        (".html", "<!-- <meta charset=koi8-r> -->" + META, "windows-1251", "cp1251", RUSSIAN),
        (".xhtml", '<?xml version="1.0" encoding="{}"?><p>{}</p>', "ISO-8859-2", "iso-8859-2", POLISH),
        (".xml", "<?xml version='1.0' encoding='{}'?><p>{}</p>", "windows-1250", "cp1250", POLISH),
        (".css", '@charset "{}";\n/* {} */', "windows-1250", "cp1250", POLISH),
        (".tex", "\\documentclass{{article}}\n\\usepackage[{}]{{inputenc}}\n{}", "latin2", "iso-8859-2", POLISH),
        (".adoc", "= T\n:encoding: {}\n\n{}", "cp1250", "cp1250", POLISH),
        (".py", "#!/usr/bin/python\n# -*- coding: {} -*-\n# {}\n", "cp1251", "cp1251", RUSSIAN),
        (".py", "# vim: set fileencoding={} :\n# {}\n", "koi8-r", "koi8-r", RUSSIAN),
        (".rb", "# encoding: {}\n# {}\n", "euc-jp", "euc-jp", JAPANESE),
        (".el", ";; -*- mode: lisp; coding: {} -*-\n;; {}\n", "iso-8859-5", "iso-8859-5", RUSSIAN),
        (".txt", "vim: enc={}\n{}\n", "cp1250", "cp1250", POLISH),
    ],
)  # fmt: skip
def test_a_declared_encoding_is_used(suffix: str, template: str, declared: str, codec: str, text: str) -> None:
    whole = template.format(declared, text)

    assert decoded(whole.encode(codec), suffix) == whole


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        *(("cp1250", text) for text in (POLISH, "Příliš žluťoučký kůň", "Az árvíztűrő tükörfúrógép", "Vană și cadă".replace("ș", "ş"))),
        *(("iso-8859-2", text) for text in (POLISH, "Příliš žluťoučký kůň")),
        ("cp1254", "Işığı söndür; ısıtıcı kırk litre"),
        ("cp1257", "Šildytuvo talpa yra keturiasdešimt litrų"),
        ("cp1253", "Ο λέβητας χωράει σαράντα λίτρα"),
        *((codec, RUSSIAN) for codec in ("cp1251", "koi8-r", "cp866", "iso-8859-5", "mac_cyrillic")),
        *((codec, JAPANESE) for codec in ("cp932", "euc-jp")),
        *((codec, CHINESE) for codec in ("gbk", "big5hkscs")),
        ("cp949", "주전자의 최대 용량"),
        ("cp1255", "נפח הקומקום"),
        ("cp1256", "سعة الغلاية"),
        ("cp874", "ความจุกาต้มน้ำ"),
        *(("mac_roman", text) for text in ("Größe für Köln", "un café très chaud est servi dans la salle")),
        *(("cp850", text) for text in ("Größe für Köln", "le goût est déjà vu dans la ville de la mer")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".txt", ".html", ".py"])
def test_text_of_an_encoding_that_nothing_tells_is_not_guessed(codec: str, text: str, suffix: str) -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(text.encode(codec, "replace"), suffix)


@pytest.mark.parametrize(
    "text",
    [
        "Der Kessel fasst vierzig Liter für größere Räume.",
        "The café is open – “always” it’s 5 °C.",
        "La température de l'eau est réglée à 40 degrés, et le ballon est vidé là où il le faut dans la maison.",
        "El depósito de agua se vacía una vez al año y la presión es de dos bares, según el señor.",
        "A caldeira não é grande, e a pressão da água é de dois bares para os banhos.",
        "Pannan rymmer fyrtio liter och det är en stor behållare som inte får överfyllas på hösten.",
        "Kedlen er på fyrre liter og må ikke stå åben, når det er vinter; den bæres af to.",
        "Le café est prêt.",
        "L’été à la plage",
        "Ça marche",
        "Réglage de la chaudière. À faire.",
        "Français",
        "¿Dónde está la caldera?",
        "Años: año 2020",
        "mañana",
        "El niño está aquí.",
        "Straße 5",
        "È già così",
        "Può darsi",
        "São Paulo",
        "Wohnfläche: 10 m² für 500 €",
        "»Größe« und «Maß»",
        "ÜBERGRÖSSEN FÜR MÄNNER",
        "Ærø",
        "smörgås",
        "Boiler manual © 2019",
        "It’s hot – “very hot”",
        "£5 per litre",
        "12\xa0000 €",
        "The boiler\xa0holds forty litres",
        "Müller, Señor Muñoz, Café, Ærø and Ångström met in São Paulo.",
    ],
)
def test_western_text_is_known_by_its_words_and_letters(text: str) -> None:
    assert decoded(text.encode("cp1252"), ".txt") == text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1250", "Gdańsk i Poznań"), ("cp1250", "był"), ("cp1250", "Václav byl český král"), ("cp1250", "hűtő"),
        ("cp1250", "fără apă caldă"), ("iso-8859-2", "śnieg"), ("iso-8859-2", "są"), ("cp1254", "ağaç"), ("cp1254", "değil"),
        ("cp1257", "māja ir liela"), ("cp437", "Größe"), ("cp437", "mañana"), ("cp850", "São Paulo"), ("mac_roman", "naïve"),
        ("mac_roman", "It’s “quoted”"), ("cp1251", "№ 5"), ("cp1253", "10 Ω"), ("cp932", "水は"), ("johab", "물이"),
        ("tis-620", "ก"), ("big5", "水"),
    ],
)  # fmt: skip
def test_a_few_words_that_western_letters_would_garble_are_not_read_as_such(codec: str, text: str) -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(text.encode(codec), ".txt")


@pytest.mark.parametrize(
    ("suffix", "template", "codec"),
    [
        (".html", '<meta charset = "x-cp1251">{}', "cp1251"),
        (".html", "<meta charset=win-1251>{}", "cp1251"),
        (".html", "<META CHARSET='CP-1251'/>{}", "cp1251"),
        (".html", '<meta content="text/html; charset=&quot;windows1251&quot;">{}', "cp1251"),
        (".php", '<meta charset="ibm866">{}', "cp866"),
        (".rb", "# -*- encoding : koi8-r-unix -*-\n# {}", "koi8-r"),
        (".tex", "\\RequirePackage[koi8-r]{{ inputenc }}\n{}", "koi8-r"),
        (".tex", "% !TEX encoding = Windows Cyrillic\n{}", "cp1251"),
        (".txt", "{}\n\nvim: set fenc=8bit-cp1251 :\n", "cp1251"),
        (".txt", "{0}\n{0}\n{0}\n{0}\n{0}\n{0}\nvi: fenc=koi8-r\n", "koi8-r"),
    ],
)
def test_a_declaration_may_be_spelled_oddly_or_stand_at_the_end(suffix: str, template: str, codec: str) -> None:
    text = template.format(RUSSIAN)

    assert decoded(text.encode(codec), suffix) == text


def test_latin_letters_that_a_program_declared_unasked_are_none() -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(META.format("iso-8859-1", RUSSIAN).encode("cp1251"), ".html")


def test_a_few_stray_bytes_do_not_lose_a_long_text() -> None:
    line = b"The boiler holds forty litres.\n"

    assert decoded(line * 100 + b"\xff\x81 " + line) == (line * 100).decode() + "\ufffd\ufffd " + line.decode()


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["The boiler holds\r\nforty litres.", RUSSIAN, CHINESE + "\n" + CHINESE, "a", "Zoë"])
def test_utf_without_a_mark_is_known_by_its_zero_bytes(codec: str, text: str) -> None:
    assert decoded(text.encode(codec)) == text


@pytest.mark.parametrize(
    "data",
    [
        b"tea\0",
        b"a\0b",
        b"\0",
        b"\0" * 64,
        b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0",
        b"SQLite format 3\0\x10\0\x01\x01",
    ],
)
def test_bytes_that_are_no_text_are_none(data: bytes) -> None:
    assert decoded(data) is None


@pytest.mark.parametrize("name", ["rot13", "hex", "idna", "punycode", "unicode_escape", "utf-16", "utf-7", "no-such"])
def test_what_is_no_encoding_of_files_declares_nothing(name: str) -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(f"# coding: {name}\n{RUSSIAN}".encode("cp1251"), ".py")


def test_utf8_counts_more_than_a_declaration_that_was_forgotten_in_it() -> None:
    text = META.format("windows-1251", RUSSIAN)

    assert decoded(text.encode(), ".html") == text


def test_a_declaration_that_the_bytes_contradict_is_none() -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(META.format("euc-kr", POLISH).encode("cp1250"), ".html")


def test_a_page_about_declarations_declares_nothing_as_text() -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(META.format("gbk", POLISH).encode("cp1250"), ".md")


@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\x1b")), st.sampled_from(["", ".py", ".html"])
)
def test_whatever_is_utf8_is_read_as_it_is(text: str, suffix: str) -> None:
    assert decoded(text.encode(), suffix) == text.removeprefix("\ufeff")


@given(st.binary(max_size=200), st.sampled_from([".txt", ".html", ".py"]))
def test_any_bytes_are_read_or_refused(data: bytes, suffix: str) -> None:
    try:
        assert decoded(data, suffix) is None or data == b"" or decoded(data, suffix) is not None
    except UnknownEncodingError:
        assert not data.isascii()


async def test_a_file_of_an_unknown_encoding_is_said_to_be_unread(tmp_path: Path) -> None:
    provider = local(written(tmp_path, {"czajnik.txt": POLISH.encode("cp1250"), "a.md": "Nothing here."}))
    answer = await answer_of(provider, "czajnika")

    assert answer.content == (
        "No passage in those of the named documents that were read speaks of czajnika; 1 file was not read."
    )
    assert answer.notices == (
        "Some of the named files were not read: 1 neither UTF-8 nor in an encoding that they declare.",
    )


async def test_a_declared_page_is_found_and_quoted_in_its_letters(tmp_path: Path) -> None:
    provider = local(written(tmp_path, {"page.html": HTTP_EQUIV.format("windows-1251", RUSSIAN).encode("cp1251")}))
    answer = await answer_of(provider, "объём чайника")

    assert f"> {RUSSIAN}" in answer.content
    assert answer.notices == ()
