"""The audience of a turn knows whether anybody is left who could be told how it ends."""

from contextlib import ExitStack, suppress

from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.audience import Audience


async def _gone() -> bool:
    return True


THERE, GONE = Caller(0), Caller(0, is_gone=_gone)


async def test_a_turn_that_nobody_called_for_has_nobody_to_lose() -> None:
    assert not await Audience().is_gone()


async def test_all_are_gone_only_if_each_of_them_is() -> None:
    audience = Audience()
    with ExitStack() as waiting:
        waiting.enter_context(audience.attended(GONE))
        assert await audience.is_gone()
        waiting.enter_context(audience.attended(GONE))
        assert await audience.is_gone()
        waiting.enter_context(audience.attended(THERE))
        assert not await audience.is_gone()


async def test_one_who_cancelled_the_call_and_stays_connected_is_not_gone() -> None:
    audience = Audience()
    with suppress(KeyboardInterrupt), audience.attended(THERE):
        raise KeyboardInterrupt
    assert audience.is_empty
    assert not await audience.is_gone()


async def test_one_who_was_told_to_come_back_is_waited_for_without_a_connection() -> None:
    audience = Audience()
    with audience.attended(GONE):
        pass
    assert await audience.is_gone()
    audience.promise()
    assert not await audience.is_gone()


async def test_one_who_comes_while_the_others_are_looked_for_counts() -> None:
    audience, waiting = Audience(), ExitStack()

    async def gone_while_another_comes() -> bool:
        waiting.enter_context(audience.attended(THERE))
        return True

    with waiting:
        waiting.enter_context(audience.attended(Caller(0, is_gone=gone_while_another_comes)))
        assert not await audience.is_gone()
