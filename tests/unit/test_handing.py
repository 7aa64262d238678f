"""When a result counts as handed over."""

import anyio
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from conversation_mcp.server.delivery import Handing

CALL = JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call")
ANSWER = JSONRPCResponse(jsonrpc="2.0", id=1, result={})
CANCELLED = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 1})


class Noted:
    """Counts deliveries; the first is cut off while it is written down."""

    def __init__(self) -> None:
        self.begun = 0
        self.done = 0

    async def __call__(self) -> None:
        self.begun += 1
        if self.begun == 1:
            await anyio.sleep_forever()
        self.done += 1


async def test_a_result_is_owed_from_when_it_is_made_until_it_is_written_and_over_when_it_was_read() -> None:
    handing, noted = Handing(), Noted()
    noted.begun = 1
    handing.received(CALL)
    assert (handing.owes, handing.is_over) == (False, False)
    await handing.owe(1, noted)
    assert (handing.owes, handing.is_over) == (True, False)
    handing.sent(ANSWER, 10)
    assert (handing.owes, handing.is_over) == (False, False)
    await handing.settle(9)
    assert (noted.done, handing.is_over) == (0, False)
    await handing.settle(10)
    assert (noted.done, handing.is_over) == (1, True)


async def test_a_delivery_whose_note_was_cut_off_is_noted_at_the_next_look() -> None:
    handing, noted = Handing(), Noted()
    handing.received(CALL)
    await handing.owe(1, noted)
    handing.sent(ANSWER, 10)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(handing.settle, 10)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert not handing.is_settled
    await handing.settle(10)
    assert (noted.done, handing.is_settled) == (1, True)


async def test_a_call_that_was_cancelled_is_owed_nothing() -> None:
    handing = Handing()
    handing.received(CALL)
    await handing.owe(1, Noted())
    handing.received(CANCELLED)
    assert (handing.owes, handing.is_over) == (False, True)
