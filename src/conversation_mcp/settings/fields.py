"""The fields of the settings."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from conversation_mcp.owners import LOCAL, REQUIREMENT, is_owner
from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.settings.tables import JwtAlgorithm, Kind, Names, OwnModel, ProviderSettings, folded, separated
from conversation_mcp.sources import config_path, encryption_with, store_url

if TYPE_CHECKING:
    from conversation_mcp.sealing.keys import Encryption


class Settings(BaseModel):
    """All settings.

    The environment variable of a field is in NAMED_VARIABLES, or its upper-case name after CONVERSATION_MCP_. Settings
    of a provider can also be given flat: `openai_api_key`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: Mapping[str, ProviderSettings] = Field(
        default_factory=dict[str, ProviderSettings],
        description="A table for each provider: its key, its address, its models, and changes of its definition.",
    )
    models: Mapping[str, OwnModel] = Field(
        default_factory=dict[str, OwnModel],
        description="A table for each model, named provider:model: its windows, prices and aliases.",
    )
    logs_dir: Path = Field(
        default=Path(),
        description="Folder of the conversations. Default: conversation-logs in the working folder if it exists, "
        "else in the user's data folder.",
    )
    store: str | None = Field(
        default=None,
        description="The URL of the store of conversations, in place of the folder; redis: REDIS_URL. Default: none.",
    )
    owner: str = Field(
        default=LOCAL,
        description="Whose conversations commands and a server over stdio use. Default: local, who runs the program. "
        "A server over HTTP takes the owner from the token.",
    )
    max_conversation_turns: int | None = Field(
        default=None, ge=1, description="The most answers in a conversation. Default: no limit."
    )
    conversation_timeout_hours: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        description="Archive conversations that were not updated for this long, when a server starts and by prune, "
        "except those with tags or an unanswered question; in Redis, forget all. Default: never; in Redis 3.",
    )
    tools: Annotated[tuple[str, ...], separated(",")] = Field(
        default=("research",), description="The enabled sets of tools, separated by commas."
    )
    documents: Annotated[tuple[Path, ...], separated(os.pathsep)] = Field(
        default=(),
        description="Files, folders and patterns that the local provider answers from, separated by : (Windows: ;).",
    )
    documents_model: str | None = Field(
        default=None,
        description="Model that writes answers from the passages of the local provider, which are sent to it; named as "
        "in DEFAULT_MODEL; auto prefers a model on this machine. Default: none; passages are quoted and stay here.",
    )
    embeddings: str = Field(
        default="auto",
        pattern="^(auto|off|bundled|[a-z][a-z0-9_-]*:.+)$",
        description="Model with which documents and conversations are found by meaning: auto, the bundled one if it is "
        "installed, else words alone; bundled; provider:model, which gets their texts and the questions; off.",
    )
    roots: Annotated[tuple[Path, ...], separated(os.pathsep)] = Field(
        default=(),
        description="Folders whose files may be sent with a question, separated by : (Windows: ;), if the client names "
        "none. Default: the working folder, unless that is the whole disk or holds the home folder.",
    )
    allow_secrets: Annotated[tuple[Path, ...], separated(os.pathsep)] = Field(
        default=(),
        description="Files, folders and patterns that may be sent although they are secrets by name or content, "
        "separated by : (Windows: ;); - for a pipe. Default: none.",
    )
    max_files: int = Field(default=500, ge=1, description="The most files and images that are read for a question.")
    max_file_bytes: int = Field(
        default=1_048_576, ge=1, description="The largest text file that is sent; of a document, its text."
    )
    max_document_bytes: int = Field(
        default=20_971_520, ge=1, description="The largest PDF, Word or other document, and the largest image, to read."
    )
    max_files_total_bytes: int = Field(
        default=67_108_864, ge=1, description="The most bytes of files and images that are read for a question."
    )
    max_files_seconds: float = Field(
        default=20, gt=0, le=3600, description="How long the files of a question are read at most."
    )
    answer_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="The part of a model's window that is kept for the answer. Default: 0.4, from 300,000 tokens on "
        "0.2.",
    )
    files_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="The part of the rest that files have for certain, whatever the history takes. Default: 0.3, from "
        "300,000 tokens on 0.4.",
    )
    history_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="The part of the rest that the history has for certain, whatever the files take. Default: 0.5, "
        "from 300,000 tokens on 0.4.",
    )
    summaries: str | None = Field(
        default=None,
        description="Model that summarizes the messages that no longer fit into a request. They are sent to it, also "
        "those that were only on this machine, if it is named with its provider; auto keeps them where they are. Named "
        "as in DEFAULT_MODEL. Default: none; they are left out, with a notice.",
    )
    decisions: str | None = Field(
        default=None,
        description="Model that gets conversations that end and proposes their decisions as memories. Default: none.",
    )
    max_image_pixels: int = Field(
        default=64_000_000, ge=1, description="The most pixels of an image that is sent or made smaller."
    )
    mirror: Path | None = Field(
        default=None, description="Folder with the files of each conversation of a database. Default: none."
    )
    prompts_dir: Path = Field(
        default_factory=lambda: config_path().parent / "prompts",
        description="Folder with your own search.md, deep_research.md, chat.md, summary.md and decisions.md in place "
        "of the system messages. Default: prompts beside the configuration file.",
    )
    workflows_dir: Path = Field(
        default_factory=lambda: config_path().parent / "workflows",
        description="Folder with your own workflows, a file for each; one with the name of a shipped one takes its "
        "place. Default: workflows beside the configuration file.",
    )
    default_model: str = Field(
        default="auto",
        description="Model of chat: auto, auto:fast, auto:balanced, auto:deep, a name, or provider:model.",
    )
    preferred_models: Names = Field(
        default=(), description="Models that auto prefers to all others, in this order, separated by commas."
    )
    disabled_models: Names = Field(
        default=(), description="Models that are never asked, by name or provider:model, separated by commas."
    )
    fallback_models: Names = Field(
        default=(),
        description="Models that are asked, in this order, if the chosen one did not accept the question and nothing "
        "was billed; the result names the change. Default: none.",
    )
    sharing: Literal["named", "always"] = Field(
        default="named",
        description="When words that were only on this machine may leave it: named, if the call names the model or "
        "provider that gets them; always, whenever an outside provider is chosen.",
    )
    redact: Annotated[tuple[SensitiveKind, ...], separated(",")] = Field(
        default=(),
        description="What is replaced before it is sent or stored, separated by commas: keys, cards, ibans, emails, "
        "phones. Default: nothing.",
    )
    encryption_key: SecretStr | None = Field(
        default=None,
        description="The key that encrypts conversations at rest, 32 bytes in base64, or keyring for the one in the "
        "system's keyring; further ones, after a comma, only open what they encrypted. Default: nothing is encrypted.",
    )
    encryption_key_file: Path | None = Field(
        default=None, description="A file with that key, instead of the setting; further keys are on further lines."
    )
    encrypt: Literal["messages", "all"] = Field(
        default="all",
        description="What is encrypted if there is a key: all, or messages, but for title, times and count of them.",
    )
    provider_order: Annotated[tuple[Kind, ...], separated(",")] = Field(
        default=get_args(Kind),
        description="The kinds of providers in the order in which they are searched for a model's name, separated by "
        "commas.",
    )
    search_preset: str = Field(default="fast", description="Preset of search, if the provider has presets.")
    search_followup_preset: str = Field(
        default="low", description="Preset of search_followup, if the provider has presets."
    )
    deep_research_preset: str = Field(
        default="high", description="Preset of deep_research, if the provider has presets."
    )
    deep_research_followup_preset: str = Field(
        default="high", description="Preset of deep_research_followup, if the provider has presets."
    )
    answer_wait_seconds: float = Field(
        default=50,
        ge=0,
        le=3600,
        description="How long a tool waits for its answer before it returns with status running. The turn continues.",
    )
    lock_wait_seconds: float = Field(
        default=45, ge=0, le=3600, description="How long a follow-up waits for another one in its conversation."
    )
    ending_grace_seconds: float = Field(
        default=4, ge=0, le=60, description="How long an ending server waits for answers that would otherwise be lost."
    )
    retries: int = Field(
        default=2, ge=0, le=10, description="The most repetitions of a call that cannot have been billed."
    )
    max_question_chars: int = Field(default=500_000, ge=1, description="The longest question that is accepted.")
    max_result_chars: int = Field(
        default=60_000, ge=1_000, description="The longest answer in a result; the file always has all of it."
    )
    max_cost_usd_per_day: float | None = Field(
        default=None,
        ge=0,
        description="Refuse questions once the cost of the day (UTC), reported or estimated, reaches this. Default: no "
        "limit.",
    )
    max_questions_per_minute: int = Field(
        default=120, ge=1, description="How many questions an owner may ask in a minute over HTTP."
    )
    max_conversations_per_minute: int = Field(
        default=60,
        ge=1,
        description="How many conversations an owner may begin in a minute over HTTP, and a user in a chatbot's log.",
    )
    max_messages_per_minute: int = Field(
        default=600, ge=1, description="How many messages of a user may be logged in a minute."
    )
    max_message_chars: int = Field(default=100_000, ge=1, description="The longest message that is logged.")
    max_running_turns: int = Field(
        default=32, ge=1, le=1_000, description="How many questions of an owner are answered at once over HTTP."
    )
    max_stored_bytes: int = Field(
        default=10_737_418_240,
        ge=1,
        description="How much room an owner who asks over HTTP may take, the trash included; measured once a minute.",
    )
    tokens_file: Path | None = Field(
        default=None,
        description="The file of the tokens of a server over HTTP; once it exists, each request needs one. Default: "
        "tokens.json beside the configuration file.",
    )
    jwt_keys: str | None = Field(
        default=None,
        description="The public keys (JWKS) of the identity provider whose tokens open a server over HTTP: a path or "
        "an https URL. The subject of a token is the owner. Default: none.",
    )
    jwt_issuer: str | None = Field(default=None, description="The issuer (iss) that such tokens must name.")
    jwt_audience: str | None = Field(
        default=None,
        description="The audience (aud) that they must name. If it is the URL by which clients reach the server, they "
        "are also told where to get a token.",
    )
    jwt_algorithms: Annotated[tuple[JwtAlgorithm, ...], separated(",")] = Field(
        default=("RS256", "ES256"),
        min_length=1,
        description="The signatures that are accepted, separated by commas. Those made with a shared secret never are.",
    )
    trusted_proxies: Annotated[tuple[str, ...], separated(",")] = Field(
        default=(),
        description="Proxies whose X-Forwarded-For tells who calls over HTTP, separated by commas. Default: none.",
    )
    log_level: str = Field(
        default="WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="DEBUG, INFO, WARNING, ERROR; to stderr."
    )

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, values: object) -> object:
        """Move `openai_api_key` to the `api_key` of the provider `openai`."""
        return folded(values, cls.model_fields)

    @field_validator("owner")
    @classmethod
    def _check_owner(cls, name: str) -> str:
        if not is_owner(name):
            raise ValueError(REQUIREMENT)
        return name

    def provider(self, name: str) -> ProviderSettings:
        """Return the settings of a provider."""
        return self.providers.get(name) or ProviderSettings()

    @property
    def encryption(self) -> "Encryption | None":
        """The encryption that was set, if any. The key is neither read nor checked yet."""
        key = self.encryption_key.get_secret_value() if self.encryption_key else None
        return encryption_with(key, self.encryption_key_file, self.encrypt)

    @property
    def store_url(self) -> str:
        """The URL of the store: the one that was set, else the URL of the folder of conversations."""
        return store_url(self.store, self.logs_dir)
