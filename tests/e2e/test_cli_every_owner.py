"""Every command of the command line with `--owner`: it works on that owner's things, and nobody else's."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.cli import Ended, Here, piped
from tests.fixtures.processes import RawServer
from tests.fixtures.stores import UNKNOWN
from tests.fixtures.viewing import viewer

from conversation_mcp.cli.main import COMMANDS, load_command
from conversation_mcp.stores.files.owners import home_of

OWNERS = ("local", "alice", "bob")
LOGS = "conversation-logs"
NOT_CONVERSATIONS = {".locks", ".audit", ".owners", ".limits", ".gitignore"}
ON_A_CONVERSATION: Mapping[str, tuple[str, ...]] = {
    "ask": ("-c", "ID", "Why?"),
    "chat": ("-c", "ID", "Why?"),
    "consensus": ("-c", "ID", "-m", "perplexity/sonar:for", "-m", "openai/gpt-5.1:against", "Why?"),
    "consult": ("-c", "ID", "-f", "notes.md", "codereview", "Look at it."),
    "show": ("ID",),
    "files": ("ID",),
    "related": ("ID",),
    "memories": ("-c", "ID"),
    "remember": ("-c", "ID", "Something else."),
    "branch": ("ID", "2"),
    "merge": ("ID", "OTHER"),
    "rename": ("ID", "Another title"),
    "tag": ("ID", "+marked"),
    "archive": ("ID",),
    "delete": ("ID",),
    "export": ("ID", "--format", "json"),
    "resume": ("ID",),
    "cancel": ("ID",),
    "tokens": ("ID",),
    "forget": ("MEMORY",),
    "trash restore": ("DELETED",),
}
"""Arguments of commands that name a conversation: ID, another one of the same owner, a memory or a deleted one."""
ON_ALL: Mapping[str, tuple[str, ...]] = {
    "list": ("--json",),
    "search": ("heron",),
    "prune": ("--older-than", "1h", "--apply"),
    "redact": ("--older", "--yes"),
    "stats": (),
    "import": ("more.jsonl",),
    "copy": ("--from", LOGS, "--to", "copied"),
    "verify": (),
    "index": ("--rebuild",),
    "trash": (),
    "trash empty": ("--yes",),
    "doctor": (),
    "config": (),
}
OF_A_NAMED_USER: Mapping[str, tuple[str, ...]] = {
    "user export": ("--output", "user.zip"),
    "user delete": ("--yes",),
    "user keep": ("90d",),
    "user prune": ("--keep", "1h", "--apply"),
    "user audit": (),
}
"""These take the owner as their argument."""
UNTIL_ENDED = {"view", "serve"}
OF_NOBODY = {
    *("models", "workflows show", "workflows check", "owners", "encrypt", "decrypt"),
    *("database", "database status", "database migrate", "token", "token add", "token list", "token revoke"),
    *("user", "workflows"),
}
"""These look at no conversations, or at everybody's."""
IN_A_PROCESS = {"consult", "doctor"}
"""Commands that look at files in their event loop, which no code may in a process of tests."""
MAY_REFUSE = {"cancel": "no question of", "resume": "", "doctor": "", "related": ""}
"""Commands that end with another code than 0 in this place, and a part of what they say."""


def names_of(name: str, command: Any) -> Iterator[str]:
    """Yield a command that can be called, or those of a group."""
    children = cast("dict[str, Any]", getattr(command, "commands", {}))
    if not children or getattr(command, "invoke_without_command", False):
        yield name
    for child, found in children.items():
        yield from names_of(f"{name} {child}", found)


def every_command() -> set[str]:
    return {found for name in COMMANDS for found in names_of(name, load_command(name))}


def words_of(owner: str) -> str:
    return f"heron of {owner}"


def told(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


class Place:
    """Three owners with two conversations, a memory and a deleted conversation each."""

    def __init__(self, folder: Path, ids: Mapping[str, Mapping[str, str]]) -> None:
        self.folder = folder
        self.ids = ids

    def arguments(self, owner: str, given: tuple[str, ...]) -> list[str]:
        return [self.ids[owner].get(each, each) for each in given]

    def names(self, owner: str) -> set[str]:
        """Return what is shown of an owner's things."""
        return {words_of(owner), *self.ids[owner].values()}

    def files(self, owner: str) -> dict[Path, bytes]:
        """Return all that is kept of an owner."""
        root = home_of(self.folder / LOGS, owner)
        kept = (
            path for each in root.iterdir() if each.name not in NOT_CONVERSATIONS for path in (each, *each.rglob("*"))
        )
        return {path: path.read_bytes() for path in kept if path.is_file()}

    def others(self, owner: str) -> dict[str, dict[Path, bytes]]:
        return {each: self.files(each) for each in OWNERS if each != owner}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("made")
    (folder / "home").mkdir()
    ids: dict[str, dict[str, str]] = {}

    def done(*arguments: str) -> Any:
        ended = piped(folder, *arguments)
        assert ended.code == 0, ended.err
        return json.loads(ended.out) if "--json" in arguments else None

    for owner in OWNERS:
        messages = [
            told("user", f"Where is the {words_of(owner)}?"),
            told("assistant", f"The {words_of(owner)} is away."),
        ]
        lines = [json.dumps({"messages": [*messages, told("user", f"{number}?")]}) for number in range(3)]
        (folder / "given.jsonl").write_text("\n".join(lines))
        done("import", "given.jsonl", "--owner", owner)
        one, two, three = (each["conversationId"] for each in done("list", "--json", "--owner", owner)["conversations"])
        done("delete", three, "--owner", owner)
        memory = done("remember", "-c", one, "--json", "--owner", owner, f"The {words_of(owner)} is grey.")["memoryId"]
        ids[owner] = {"ID": one, "OTHER": two, "DELETED": three, "MEMORY": memory}
    (folder / "notes.md").write_text("Something to look at.")
    (folder / "more.jsonl").write_text(json.dumps({"messages": [told("user", "More?"), told("assistant", "More.")]}))
    return Place(folder, ids)


@pytest.fixture(scope="module")
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


@pytest.fixture
def place(made: Place, agent: LoopbackAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A copy of the place, in which commands run here."""
    folder = tmp_path / "place"
    shutil.copytree(made.folder, folder)
    monkeypatch.chdir(folder)
    for name, value in {"API_KEY": KEY, "BASE_URL": agent.base_url}.items():
        monkeypatch.setenv(f"PERPLEXITY_{name}", value)
    monkeypatch.setenv("CONVERSATION_MCP_EMBEDDINGS", "off")
    monkeypatch.setenv("CONVERSATION_MCP_REDACT", "keys")
    monkeypatch.setenv("CONVERSATION_MCP_SHARING", "always")
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        yield Place(folder, made.ids)


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Place) -> Run:
    here = Here(capsys, monkeypatch, place.folder)

    def run(command: str, *arguments: str) -> Ended:
        whole = (*command.split(), *arguments)
        return piped(place.folder, *whole) if command in IN_A_PROCESS else here(*whole)

    return run


def test_the_walk_tries_every_command() -> None:
    tried = {*ON_A_CONVERSATION, *ON_ALL, *OF_A_NAMED_USER, *OF_NOBODY, *UNTIL_ENDED}
    assert tried == every_command()


@pytest.mark.parametrize("command", [*ON_A_CONVERSATION, *ON_ALL])
def test_a_command_shows_and_changes_the_things_of_its_owner_alone(place: Place, run: Run, command: str) -> None:
    given = {**ON_A_CONVERSATION, **ON_ALL}[command]
    before = place.others("alice")
    ended = run(command, *place.arguments("alice", given), "--owner", "alice")
    assert ended.code == 0 or (command in MAY_REFUSE and MAY_REFUSE[command] in ended.err), ended
    assert not [name for other in ("local", "bob") for name in place.names(other) if name in ended.out + ended.err]
    assert place.others("alice") == before


@pytest.mark.parametrize("command", ON_A_CONVERSATION)
def test_a_conversation_of_another_owner_does_not_exist(place: Place, run: Run, command: str) -> None:
    given = ON_A_CONVERSATION[command]
    before = place.others("")
    for owner, other in (("bob", "alice"), ("local", "alice"), ("alice", "local")):
        seen = [run(command, *each, "--owner", owner) for each in _of_another(place, other, given)]
        assert seen[0].code != 0
        assert replaced(seen[0], place.ids[other]) == replaced(seen[1], place.ids[other])
    assert place.others("") == before


def _of_another(place: Place, other: str, given: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the arguments with the ids of another owner, and with ids that nobody has."""
    hers = place.arguments(other, given)
    return hers, [unknown(each) if each in place.ids[other].values() else each for each in hers]


def unknown(each: str) -> str:
    return UNKNOWN + each[len(UNKNOWN) :]


def replaced(ended: Ended, ids: Mapping[str, str]) -> tuple[int, str]:
    """Return what was told with ids replaced."""
    text = ended.out + ended.err
    for each in ids.values():
        text = text.replace(each, "ID").replace(unknown(each), "ID")
    return ended.code, text


@pytest.mark.parametrize("command", ["list", "search", "stats", "verify", "trash", "memories"])
def test_a_command_says_the_same_where_nobody_else_has_anything(place: Place, run: Run, command: str) -> None:
    given = (*ON_ALL.get(command, ()), "--owner", "alice")
    among_others = run(command, *given)
    for other in ("local", "bob"):
        assert run("user delete", other, "--yes").code == 0
    assert run(command, *given) == among_others


@pytest.mark.parametrize("command", OF_A_NAMED_USER)
def test_a_command_for_a_user_touches_that_user_alone(place: Place, run: Run, command: str) -> None:
    before = place.others("alice")
    ended = run(command, "alice", *OF_A_NAMED_USER[command])
    assert ended.code == 0, ended
    assert not [name for other in ("local", "bob") for name in place.names(other) if name in ended.out + ended.err]
    assert place.others("alice") == before


@pytest.mark.parametrize("command", sorted({*OF_NOBODY, *OF_A_NAMED_USER}))
def test_where_an_owner_makes_no_sense_the_option_is_refused(place: Place, run: Run, command: str) -> None:
    before = place.others("")
    ended = run(command, "--owner", "alice")
    assert (ended.code, ended.out) == (2, "")
    assert "--owner" in ended.err
    assert place.others("") == before


def test_a_viewer_shows_the_things_of_its_owner_alone(place: Place) -> None:
    import httpx

    with viewer(place.folder, "", "--owner", "alice") as address, httpx.Client(follow_redirects=True) as client:
        page = client.get(address).text
        assert words_of("alice") in page
        assert not [name for other in ("local", "bob") for name in place.names(other) if name in page]
        origin = address.partition("/?")[0]
        for other in ("local", "bob"):
            assert client.get(f"{origin}/conversations/{place.ids[other]['ID']}").status_code == 404


class OwnersServer(RawServer):
    def command(self) -> list[str]:
        return [*super().command(), "serve", "--owner", "alice"]


def test_a_server_over_stdio_serves_the_things_of_its_owner_alone(place: Place) -> None:
    before = place.others("alice")
    with OwnersServer(place.folder) as server:
        server.initialize()
        server.call("list_conversations", 1)
        listed = json.dumps(server.answer_to(1))
        assert place.ids["alice"]["ID"] in listed
        assert not [name for other in ("local", "bob") for name in place.names(other) if name in listed]
        server.call("get_conversation_history", 2, conversationId=place.ids["bob"]["ID"])
        assert "CONVERSATION_NOT_FOUND" in json.dumps(server.answer_to(2))
    assert place.others("alice") == before
