"""When a result counts as handed over."""

import anyio
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from conversation_mcp.server.delivery import Deliveries

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
    deliveries, noted = Deliveries(), Noted()
    noted.begun = 1
    deliveries.received(CALL)
    assert (deliveries.owes, deliveries.is_over) == (False, False)
    await deliveries.owe(1, noted)
    assert (deliveries.owes, deliveries.is_over) == (True, False)
    deliveries.sent(ANSWER, 10)
    assert (deliveries.owes, deliveries.is_over) == (False, False)
    await deliveries.settle(9)
    assert (noted.done, deliveries.is_over) == (0, False)
    await deliveries.settle(10)
    assert (noted.done, deliveries.is_over) == (1, True)


async def test_a_delivery_whose_note_was_cut_off_is_noted_at_the_next_look() -> None:
    deliveries, noted = Deliveries(), Noted()
    deliveries.received(CALL)
    await deliveries.owe(1, noted)
    deliveries.sent(ANSWER, 10)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(deliveries.settle, 10)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert not deliveries.is_settled
    await deliveries.settle(10)
    assert (noted.done, deliveries.is_settled) == (1, True)


async def test_a_call_that_was_cancelled_is_owed_nothing() -> None:
    deliveries = Deliveries()
    deliveries.received(CALL)
    await deliveries.owe(1, Noted())
    deliveries.received(CANCELLED)
    assert (deliveries.owes, deliveries.is_over) == (False, True)
