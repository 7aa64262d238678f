"""Which providers are on this machine."""

import pytest
from tests.fixtures.families import configured

from conversation_mcp.providers.sides import is_here


@pytest.mark.parametrize(
    ("name", "address", "expected"),
    [
        ("ollama", "http://localhost:11434/v1", True),
        ("ollama", "http://LOCALHOST.:11434", True),
        ("lmstudio", "http://127.0.0.1:1234/v1", True),
        ("llamacpp", "http://127.8.8.8", True),
        ("vllm", "http://[::1]:8000/v1", True),
        ("vllm", "http://[::ffff:127.0.0.1]:8000/v1", True),
        ("custom", "http://0.0.0.0:8000/v1", True),
        ("work", "http://localhost/v1", True),
        ("ollama", "http://192.168.1.7:11434", False),
        ("custom", "http://localhost.example.org/v1", False),
        ("custom", "https://127.0.0.1.nip.io/v1", False),
        ("custom", "http://localhost@example.org/v1", False),
        ("work", "https://llm.example.com/v1", False),
        ("openai", "http://localhost:8000/v1", False),
        ("perplexity", "http://127.0.0.1:8000", False),
        ("openrouter", "http://[::1]/v1", False),
    ],
)
def test_a_server_is_on_this_machine_by_its_address_and_a_service_never(
    name: str, address: str, *, expected: bool
) -> None:
    own = {"kind": "local"} if name == "openai" else {}
    assert is_here(configured(name, address, key="k" * 20, **own)) == expected
