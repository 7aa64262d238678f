"""Files that are no conversation: each says where and why, none is touched, none is taken for an empty one."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.fixtures.stores import Clock, appended, content, conversation, put, started, texts_of, tree

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.codec import decode, encode
from conversation_mcp.records.ids import id_at
from conversation_mcp.stores.files.store import FileStore

ID = id_at(1769817600123)
WHOLE = encode(conversation(ID, "What is a B-tree?", "Sorted, 日本 😀."))
FACTS = WHOLE.decode().partition('  "messages"')[0]


def problem(data: bytes) -> str:
    with pytest.raises(ConversationCorruptedError) as caught:
        decode(data, "c.json", ID)
    assert caught.value.conversation_id == ID
    return caught.value.message


def with_field(field: str) -> str:
    return problem(WHOLE.replace(b'"messageCount"', field.encode() + b', "messageCount"'))


def with_messages(messages: str) -> str:
    return problem(f'{FACTS}  "messages": {messages}}}'.encode())


def test_a_missing_comma_is_told_with_line_column_and_byte_even_after_other_scripts_and_a_bom() -> None:
    broken = WHOLE.replace('日本 😀."'.encode(), '日本 😀." 1'.encode())
    assert problem(broken) == "c.json is not valid JSON at line 13, column 34 (byte 317)."
    assert broken[317 - 1 :].startswith(b"1")
    assert problem(b"\xef\xbb\xbf" + broken) == "c.json is not valid JSON at line 13, column 34 (byte 320)."


def test_carriage_returns_do_not_shift_the_place() -> None:
    broken = WHOLE.replace(b'"role": "user"', b'"role"; "user"').replace(b"\n", b"\r\n")
    assert problem(broken) == "c.json is not valid JSON at line 8, column 13 (byte 197)."
    assert broken[197 - 1 :].startswith(b";")


def test_a_line_break_inside_a_text_is_told_where_it_stands() -> None:
    assert problem(b'{\n"a": "b\n"}') == "c.json is not valid JSON at line 2, column 8 (byte 10)."


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b" \r\n\t"])
def test_an_empty_file_is_called_empty(data: bytes) -> None:
    assert problem(data) == "c.json is empty."


def test_a_file_of_nul_bytes_is_called_that() -> None:
    assert problem(bytes(4096)) == "c.json holds nothing but NUL bytes."


def test_nul_bytes_after_the_end_are_told() -> None:
    assert "is not valid JSON at line 17, column 1 " in problem(WHOLE + bytes(8))


def test_two_documents_in_one_file_are_told_where_the_second_begins() -> None:
    assert problem(WHOLE + WHOLE) == f"c.json is not valid JSON at line 17, column 1 (byte {len(WHOLE) + 1})."


def test_text_that_is_not_utf8_is_told_with_its_place() -> None:
    latin = WHOLE.replace("日本".encode(), b"\xfcber")
    assert problem(latin) == "c.json is not UTF-8 at line 13, column 27 (byte 303)."
    assert latin[303 - 1] == 0xFC
    assert problem("{}".encode("utf-16")) == "c.json is not UTF-8 at line 1, column 1 (byte 1)."


def test_what_is_nested_without_end_is_no_crash() -> None:
    assert "is nested too deeply at line " in with_field('"note": ' + "[" * 100_000)


def test_a_number_without_end_is_no_crash() -> None:
    assert "holds a number that is too long at line " in with_field('"note": ' + "1" * 5_000)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_told_where_they_stand(number: str) -> None:
    told = with_field(rf'"say": "NaN \" Infinity", "note": [{number}]')
    assert told.startswith("c.json is not valid JSON at line 5, column ")


@pytest.mark.parametrize("place", ['"metadata": {"a": [%s]}', '"note": {"a": %s}', '"sources": [{"id": 1, "a": %s}]'])
@pytest.mark.parametrize("number", ["NaN", "1e999", "-1e999"])
def test_no_message_holds_a_number_that_is_none(number: str, place: str) -> None:
    told = with_messages(f'[{{"role": "user", "content": "1e999", {place % number}}}]')
    assert told.startswith("c.json is not valid JSON at line ")


def test_a_lone_surrogate_does_not_hide_another_flaw() -> None:
    assert "is not valid JSON at line " in problem(WHOLE.replace(b"Sorted", rb"\ud800")[:-4])


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ('[{"role": "user", "content": 3}]', "messages[0].content must be a string"),
        ('[{"role": "user", "content": [{"type": "text"}]}]', "messages[0].content must be a string"),
        ('[{"role": "user", "content": null}]', "messages[0].content must be a string"),
        ('[{"role": "user"}]', "messages[0].content is missing"),
        ('[{"role": "user", "content": "\\ud800", "sources": [{}]}]', "messages[0].sources[0].id is missing"),
        ('["Hello"]', "messages[0] must be an object"),
        ('{"0": 1}', "messages must be a list"),
        ("null", "messages must be a list"),
    ],
)
def test_a_wrong_message_is_told_by_its_place(messages: str, told: str) -> None:
    assert with_messages(messages) == f"c.json is not a conversation: {told}."


def test_an_unknown_role_is_told_with_the_roles_there_are() -> None:
    assert with_messages('[{"role": "bot", "content": "secret"}]') == snapshot(
        "c.json is not a conversation: messages[0].role must be 'system', 'developer', 'user', 'assistant' or 'tool'."
    )


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ('"title": 5', "title must be a string"),
        ('"archived": "secret"', "archived must be true or false"),
        ('"pendingTurn": {}', "pendingTurn.question is missing"),
        ('"parent": []', "parent must be an object"),
    ],
)
def test_a_wrong_fact_is_told_by_its_name(field: str, told: str) -> None:
    assert with_field(field) == f"c.json is not a conversation: {told}."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"createdAt"', '"made"', "createdAt is missing"),
        (": 2", ": 2.5", "messageCount must be a whole number"),
        ('"2026-01-31T00:00:00.123Z"', '"secret"', "createdAt must be a time such as 2026-01-31T12:00:00.000Z"),
    ],
)
def test_a_wrong_fact_of_the_contract_is_told_by_its_name(old: str, new: str, told: str) -> None:
    assert problem(WHOLE.decode().replace(old, new).encode()) == f"c.json is not a conversation: {told}."


@pytest.mark.parametrize("document", ["[1]", "3", '"text"', "null"])
def test_json_that_is_no_object_is_no_conversation(document: str) -> None:
    assert problem(document.encode()) == "c.json is not a conversation: the document must be an object."


def test_a_file_cut_anywhere_is_corrupt_and_stays_as_it_is() -> None:
    for length in range(len(WHOLE.rstrip())):
        assert problem(WHOLE[:length])


@given(st.integers(0, len(WHOLE)), st.binary(), st.integers(0, len(WHOLE)))
def test_whatever_the_bytes_they_are_a_conversation_or_a_told_problem(head: int, junk: bytes, tail: int) -> None:
    try:
        decode(WHOLE[:head] + junk + WHOLE[tail:], "c.json", ID)
    except ConversationCorruptedError as error:
        error.sentence().encode()


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path, now=Clock(), is_durable=False)


async def test_a_damaged_file_is_an_error_of_that_conversation_alone_and_is_not_touched(
    store: FileStore, tmp_path: Path
) -> None:
    damaged, healthy = await started(store), await started(store)
    path = put(store, damaged, WHOLE[:200])
    before = tree(tmp_path)
    for call in (store.load(damaged), store.update(damaged, appended("more"))):
        with pytest.raises(ConversationCorruptedError, match=f"{path} is not valid JSON at line"):
            await call
    assert content(path) == WHOLE[:200]
    assert set(tree(tmp_path)) - set(before) <= {".locks", f".locks/{damaged}.write.lock"}
    await store.update(healthy, appended("more"))
    put(store, damaged, WHOLE)
    assert (await store.load(damaged)).message_count == 2


async def test_a_file_that_is_too_large_is_told_and_not_loaded(store: FileStore) -> None:
    conversation_id = await started(store)
    os.truncate(store.location(conversation_id), 200 * 1024 * 1024)
    for call in (store.load(conversation_id), store.update(conversation_id, appended("more"))):
        with pytest.raises(ConversationCorruptedError, match="is larger than the limit of 64 MiB"):
            await call


def test_the_error_says_what_to_do() -> None:
    with pytest.raises(ConversationCorruptedError) as caught:
        decode(b"{", "/logs/c.json", ID)
    assert caught.value.sentence() == snapshot(
        "CONVERSATION_CORRUPTED: /logs/c.json is not valid JSON at line 1, column 2 (byte 2). "
        "The file was not changed; mend it by hand or restore a copy."
    )


async def test_an_edit_that_leaves_size_and_times_as_they_were_is_seen(store: FileStore) -> None:
    conversation_id = await started(store)
    await store.update(conversation_id, appended("one word"))
    path = Path(store.location(conversation_id))
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"one word", b"two word"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert texts_of(await store.load(conversation_id))[-1] == "two word"
    assert texts_of(await store.update(conversation_id, appended("more")))[-2:] == ["two word", "more"]
