"""A long conversation with files through the whole server, at the small window of a real one."""

from pathlib import Path

import pytest
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.processes import RawServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TURNS, FILES, WINDOW_TOKENS = 200, 40, 4096
MODEL = f"llamacpp:{LLAMA_MODEL}"
SHORT_ANSWERS = "[providers.llamacpp.quirks]\noutput_limit_tokens = 32\n"
"""The model writes random signs up to its limit; sent back, they are many more tokens than it wrote."""


def test_two_hundred_turns_with_forty_files_go_on_without_one_overflow(tmp_path: Path) -> None:
    code, used, sent, left_out = tmp_path / "code", list[int](), set[str](), 0
    code.mkdir()
    config = tmp_path / "config" / "conversation-mcp" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(SHORT_ANSWERS)
    with llama(window_tokens=WINDOW_TOKENS) as base_url:
        settings = {
            "LLAMACPP_BASE_URL": base_url,
            "CONVERSATION_MCP_TOOLS": "research,models",
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        with RawServer(tmp_path, cwd=code, **settings) as server:
            server.initialize()
            where: dict[str, str] = {}
            for turn in range(TURNS):
                path = code / f"{turn // 2 % FILES}.py"
                path.write_text("".join(f"page {turn} {line}\n" for line in range(4 + turn % 9)))
                files = [str(path)] if turn % 2 else []
                server.call("chat", turn + 1, prompt=f"question {turn}", model=MODEL, files=files, **where)
                result = server.answer_to(turn + 1)["result"]
                assert not result.get("isError"), (turn, result)
                data = result["structuredContent"]
                where = {"conversationId": data["conversationId"]}
                used.append(data["usage"]["inputTokens"])
                sent |= {one["path"] for one in data.get("files", ()) if one["sent"] in ("whole", "diff")}
                left_out += any("earlier message" in notice for notice in data.get("notices", ()))
    assert len(sent) == FILES
    assert max(used) < WINDOW_TOKENS
    assert max(used) > WINDOW_TOKENS / 3
    assert left_out > TURNS / 2
