"""The memory of what was read last: what it gives back, and what it lets go."""

from conversation_mcp.disk.recent import Recent


def kept(recent: "Recent[str, int, str]", *keys: str) -> list[str]:
    return [key for key in keys if recent.get(key, 1)]


def test_a_value_is_given_back_while_its_source_is_the_same() -> None:
    recent = Recent[str, int, str](100)
    recent.put("a", 1, "first", 10)
    assert recent.get("a", 1) == "first"
    assert recent.get("a", 2) is None
    recent.put("a", 2, "second", 10)
    assert (recent.get("a", 1), recent.get("a", 2)) == (None, "second")


def test_what_was_not_used_for_longest_goes_first() -> None:
    recent = Recent[str, int, str](30)
    for key in "abc":
        recent.put(key, 1, key, 10)
    recent.get("a", 1)
    recent.put("d", 1, "d", 10)
    assert kept(recent, *"abcd") == ["a", "c", "d"]


def test_a_value_too_large_is_not_kept_and_lets_nothing_go_but_its_predecessor() -> None:
    recent = Recent[str, int, str](30)
    recent.put("a", 1, "a", 10)
    recent.put("b", 1, "b", 10)
    recent.put("b", 1, "large", 31)
    assert kept(recent, "a", "b") == ["a"]


def test_a_replaced_value_counts_once() -> None:
    recent = Recent[str, int, str](30)
    for _ in range(5):
        recent.put("a", 1, "a", 20)
    recent.put("b", 1, "b", 10)
    assert kept(recent, "a", "b") == ["a", "b"]


def test_values_can_be_dropped_by_their_keys() -> None:
    recent = Recent[str, int, str](30)
    for key in ("x/1", "x/2", "y/1"):
        recent.put(key, 1, key, 10)
    recent.drop(lambda key: key.startswith("x/"))
    assert kept(recent, "x/1", "x/2", "y/1") == ["y/1"]
    recent.put("z", 1, "z", 20)
    assert kept(recent, "y/1", "z") == ["y/1", "z"]


def test_a_single_value_may_be_larger_than_all_others_together() -> None:
    recent = Recent[str, int, str](30, 60)
    recent.put("a", 1, "a", 10)
    recent.put("b", 1, "large", 60)
    assert kept(recent, "a", "b") == ["b"]
    recent.put("c", 1, "c", 10)
    assert kept(recent, "b", "c") == ["c"]
    recent.put("d", 1, "too large", 61)
    assert kept(recent, "c", "d") == ["c"]


def test_room_is_made_for_a_value_before_it_is_there() -> None:
    recent = Recent[str, int, str](30, 60)
    for key in "abc":
        recent.put(key, 1, key, 10)
    recent.make_room("c", 20)
    assert kept(recent, *"abc") == ["b"]
    recent.put("c", 1, "c", 20)
    assert kept(recent, *"abc") == ["b", "c"]
    recent.make_room("d", 61)
    assert kept(recent, *"abc") == ["b", "c"]
