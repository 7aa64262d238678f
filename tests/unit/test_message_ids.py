"""The ids of messages in a log."""

from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.records.message_ids import with_ids
from conversation_mcp.records.models import Message


def messages(*ids: str | None) -> list[Message]:
    return [Message.of(role="user", content="x", message_id=name) for name in ids]


def ids(*given: str | None) -> list[str | None]:
    return [message.message_id for message in with_ids(messages(*given))]


def test_a_message_has_the_number_of_its_place() -> None:
    assert ids(None, None) == ["m-1", "m-2"]
    assert ids("m-1", None) == ["m-1", "m-2"]


def test_ids_stay_when_a_message_before_them_is_removed_by_hand() -> None:
    assert ids("m-1", "m-3", None) == ["m-1", "m-3", "m-4"]
    assert ids("m-2", None) == ["m-2", "m-3"]


def test_a_copy_by_hand_gets_an_id_of_its_own() -> None:
    assert ids("m-1", "m-1", "m-2") == ["m-1", "m-4", "m-2"]
    assert ids("x", "", "x") == ["x", "m-2", "m-3"]


@given(st.lists(st.sampled_from([None, "", "a", *(f"m-{number}" for number in range(12))]), max_size=12))
def test_ids_are_unique_and_do_not_change_again(given: list[str | None]) -> None:
    named = with_ids(messages(*given))
    assert len({message.message_id for message in named}) == len(named)
    assert all(message.message_id for message in named)
    assert with_ids(named) == named
    assert {name for name in given if name} <= {message.message_id for message in named}
