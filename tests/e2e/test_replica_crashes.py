"""Replicas behind a real balancer die, stand still and are replaced while many clients ask; nothing seen is lost.

A short run is one of the tests; `make crash` has the long one. CRASH_REPLICA_MOMENTS, CRASH_RESTARTS, CRASH_CLIENTS and
CRASH_SEED choose another.
"""

import json
import os
import random
import signal
import sys
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import anyio
import httpx
import pytest
from anyio import to_thread
from tests.fixtures.agent import agent_process
from tests.fixtures.balancers import nginx_before
from tests.fixtures.chains import PATIENCE_SECONDS, Chain, Seen
from tests.fixtures.databases import postgresql, require_database
from tests.fixtures.ports import free_ports
from tests.fixtures.shaken_replicas import Shaking, shaken

from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import Conversation, parse_time
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.leases import LEASE_SECONDS

MOMENTS = int(os.environ.get("CRASH_REPLICA_MOMENTS", "12"))
RESTARTS = int(os.environ.get("CRASH_RESTARTS", "2"))
CLIENTS = int(os.environ.get("CRASH_CLIENTS", "10"))
SEED = int(os.environ.get("CRASH_SEED", "20261129"))
LEASE = LEASE_SECONDS if MOMENTS > 100 else 4.0
MEAN_SECONDS = 2.0 if MOMENTS > 100 else 0.5
END_SECONDS = LEASE + 120
"""A lease, and what replicas take to start and clients to ask once more on a machine that has much else to do."""
SETTINGS = {
    "CONVERSATION_MCP_MAX_QUESTIONS_PER_MINUTE": "100000",
    "CONVERSATION_MCP_MAX_CONVERSATIONS_PER_MINUTE": "100000",
    "CONVERSATION_MCP_MAX_RUNNING_TURNS": "1000",
    "CONVERSATION_MCP_ENDING_GRACE_SECONDS": "2",
}


@pytest.mark.slow
@pytest.mark.stores
@pytest.mark.timeout(3600)
def test_what_clients_saw_is_kept_and_paid_once_whatever_becomes_of_replicas_and_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_database()
    journal, chance = tmp_path / "journal.jsonl", random.Random(SEED)
    with postgresql() as database, agent_process(journal, background_polls=1) as base_url:
        url = database.database()
        settings = {**SETTINGS, "CONVERSATION_MCP_STORE": url}
        with shaken(tmp_path, 3, LEASE, base_url, settings) as replicas:
            shaking = Shaking(replicas, database, chance, LEASE)
            with nginx_before([each.port for each in replicas], free_ports(1)[0], tmp_path) as address:
                chains, end_seconds = anyio.run(asked_while_shaken, address, shaking)
        stored = anyio.run(all_stored, url)
    seen = [each for chain in chains for each in chain.seen]
    entries = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    paid = Counter(entry["question"] for entry in entries if entry["paid"])
    untraceable = Counter(question for conversation in stored.values() for question in left_without_id(conversation))
    told = sum((chain.codes for chain in chains), Counter[str]())
    in_vain = Counter(
        question for chain in chains for question, at in chain.gave_up if is_handed_over(question, at, stored)
    )
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(seen)} answers to {len(chains)} clients in {MOMENTS} moments, {paid.total()} paid, of which "
            f"{paid.total() - len(paid)} again: {untraceable.total()} runs were unknown when their replica died, "
            f"up to {in_vain.total()} answers were on their way when clients gave up; the longest wait was "
            f"{max(chain.longest_seconds for chain in chains):.0f} s, the last answers came after {end_seconds:.0f} s; "
            f"in place of answers: {dict(told)}\n"
        )
    lost = [each for each in seen if not is_kept(each, stored)]
    # What its server could not save before it died is fetched by the id of its run, if that is known.
    assert [each for each in lost if each.is_saved or not untraceable[each.question]] == []
    assert [each for each, times in paid.items() if times > 1 + untraceable[each] + in_vain[each]] == []
    assert [each for each in stored.values() if each.pending_turn or not alternates(each)] == []
    assert end_seconds <= END_SECONDS
    assert set(shaking.exit_codes) <= {0, -signal.SIGTERM}  # the latter if it had only begun to start


async def asked_while_shaken(address: str, shaking: Shaking) -> tuple[list[Chain], float]:
    """Return the clients, and how long after the last moment the last of them had its answer."""
    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(limits=limits) as http:
        chains = [Chain(number, address, http, random.Random(SEED + number)) for number in range(CLIENTS)]
        async with anyio.create_task_group() as tasks:
            for chain in chains:
                tasks.start_soon(chain.run, lambda: shaking.is_over)
            while not all(chain.seen for chain in chains):  # noqa: ASYNC110 -- the replicas have to start first
                await anyio.sleep(0.1)
            await shaking.run(MOMENTS, RESTARTS, MEAN_SECONDS)
        return chains, anyio.current_time() - shaking.over_at


async def all_stored(url: str) -> dict[str, Conversation]:
    store = open_store(url, utc_now)
    return {each: await store.load(each) for each in await to_thread.run_sync(store.finder.ids)}


def is_kept(seen: Seen, stored: dict[str, Conversation]) -> bool:
    messages = [message.content for message in stored[seen.conversation_id].messages]
    return any(pair == (seen.question, seen.answer) for pair in pairwise(messages))


def is_handed_over(question: str, gave_up_at: datetime, stored: dict[str, Conversation]) -> bool:
    """Tell whether an answer was there just before the client gave up, so that the balancer may have had it already."""
    return any(
        asked.content == question
        and timedelta() <= gave_up_at - parse_time(answer.created_at or "") <= timedelta(seconds=PATIENCE_SECONDS)
        for conversation in stored.values()
        for asked, answer in pairwise(conversation.messages)
    )


def left_without_id(conversation: Conversation) -> list[str]:
    """Return the questions whose run nobody knew when their replica died: the same call again asks anew."""
    return [turn.question for turn in conversation.unanswered_turns or () if turn.response_id is None]


def alternates(conversation: Conversation) -> bool:
    roles = [message.role for message in conversation.messages]
    return roles == ["system", *(["user", "assistant"] * ((len(roles) - 1) // 2))]
