"""The list of models that a client reads."""

from pathlib import Path

from inline_snapshot import snapshot
from tests.fixtures.models import FakeModels, FakePerplexity
from tests.fixtures.serving import data_of, serving, text_of

from conversation_mcp.providers.base import ListedModel

TOOLS = ("research", "models")


async def test_the_list_of_models_says_what_can_be_asked_and_why_the_rest_cannot(tmp_path: Path) -> None:
    built = (
        FakePerplexity(),
        FakeModels(name="openai"),
        FakeModels(name="ollama", listed=[ListedModel("qwen3:8b", 40_960)]),
        FakeModels(name="lmstudio"),
    )
    async with serving(tmp_path, *built, tools=TOOLS, openai_allowed_models=["gpt-6-luna"]) as client:
        result = await client.call_tool("list_models", {"query": "-luna"})
        local = data_of(await client.call_tool("list_models", {"provider": "ollama"}))
        able = data_of(await client.call_tool("list_models", {"ability": "deep_research", "limit": 1}))
    assert text_of(result) == snapshot("""\
2 models
- openai:gpt-6-luna · 1,050,000 tokens · $0.1 in, $0.5 out per million · ability 9 · images · reasoning
- openai:gpt-5.6-luna · 1,050,000 tokens · $0.2 in, $1.2 out per million · ability 7 · images · reasoning · not allowed: OPENAI_ALLOWED_MODELS allows gpt-6-luna only

Providers
- perplexity · search, deep research, chat · also accepts fast, low, medium, high and xhigh
- openai · search, deep research, chat
- ollama · chat
- lmstudio · chat · no server answers at http://localhost:1234/v1
- anthropic · search, chat · not configured: set ANTHROPIC_API_KEY
- xai · search, chat · not configured: set XAI_API_KEY
- gemini · search, deep research, chat · not configured: set GEMINI_API_KEY
- mistral · chat · not configured: set MISTRAL_API_KEY
- deepseek · chat · not configured: set DEEPSEEK_API_KEY
- azure · chat · not configured: set AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT
- openrouter · search, chat · not configured: set OPENROUTER_API_KEY
- dial · chat · not configured: set DIAL_API_KEY and DIAL_BASE_URL
- llamacpp · chat · not configured: set LLAMACPP_BASE_URL
- vllm · chat · not configured: set VLLM_BASE_URL
- custom · chat · not configured: set CUSTOM_API_URL\
""")
    assert local["models"] == snapshot(
        [
            {
                "name": "ollama:qwen3:8b",
                "provider": "ollama",
                "contextTokens": 40960,
                "inputLimitTokens": 36864,
                "source": "told by the server",
            }
        ]
    )
    assert [model["provider"] for model in able["models"]] == ["perplexity"]
    assert {provider["name"] for provider in able["providers"]} == {"perplexity", "openai", "gemini"}
