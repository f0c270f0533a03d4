"""The environment, read once. Nothing else in Taskloom looks at environment variables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from taskloom.memory.policies import Addition, Deletion

Style = Literal["template", "model", "auto"]
KEY_LENGTH = 16
WEEK = 604_800.0  # seconds; what waits longer than the system can count fails


class Settings(BaseSettings):
    """What the environment says; every field has a default.

    A variable that is set to nothing counts as not set.
    """

    model_config = SettingsConfigDict(
        env_prefix="TASKLOOM_", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    model: str = Field(
        default="",
        description="Chat model to use; without one, a small network reads and templates reply.",
    )
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    home: Path = Field(default=Path("~/.taskloom"), description="Folder for threads and memory.")
    memory: bool = Field(default=True, description="Whether to keep and use long-term memory.")
    judge: Literal["trained", "model"] = Field(
        default="trained",
        description="Who decides which remembered values fit: the trained judge, or the model.",
    )
    experience_addition: Addition = Field(
        default="coarse",
        description="Which experiences to store: a fixed set (fixed), all, those not corrected "
        "(coarse), or confirmed ones (strict).",
    )
    experience_deletion: Deletion = Field(
        default="history",
        description="Which experiences to delete: none, unused (periodic), unhelpful (history), both "
        "(combined), or those over the limit (capacity).",
    )
    experience_period: int = Field(default=300, ge=1, description="Length of a period, in experiences.")
    experience_alpha: int = Field(
        default=0, ge=0, description="Delete what was used at most this often per period (alpha)."
    )
    experience_n: int = Field(
        default=5, ge=1, description="Judge an experience only after this many uses (n)."
    )
    experience_beta: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Delete what was judged and has a mean utility of at most this, 0 to 1 (beta).",
    )
    experience_limit: int = Field(
        default=1000, ge=1, description="With capacity: the most experiences to keep."
    )
    embeddings: str = Field(
        default="", description="Embedding model at the same endpoint; without one, the built-in model."
    )
    transcription: str = Field(
        default="",
        description="Model at the same endpoint that transcribes speech; without one, recordings need "
        "a transcript.",
    )
    chroma_url: str | None = Field(
        default=None,
        description="Address of a Chroma server; without one, Chroma runs inside this process, under "
        "the home folder.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="PostgreSQL for threads, calls and the queue of records; without one, SQLite files under "
        "the home folder.",
    )
    reader: Literal["auto", "model", "local"] = Field(
        default="auto",
        description="Who reads messages: the model, except where the local reader is certain (auto); "
        "always the model; or only the local reader (local).",
    )
    replies: Style = Field(
        default="auto",
        description="Who writes replies: templates, the model, or templates and the model where none "
        "fits (auto).",
    )
    tools: Path | None = Field(
        default=None, description="YAML file that lists the tools; without one there are none."
    )
    rerun: Literal["offer", "do"] = Field(
        default="offer",
        description="When a change makes a tool's result out of date: offer to run the tool again, or do it.",
    )
    max_subtasks: int = Field(
        default=5, ge=0, description="Most tool calls that the model may choose in one turn."
    )
    act_seconds: float = Field(
        default=300.0, gt=0, le=WEEK, description="Most seconds for all tool calls of one turn."
    )
    act_tokens: int = Field(
        default=50_000,
        ge=0,
        description="Tokens used in a turn after which the model chooses no more tool calls.",
    )
    model_timeout: float = Field(
        default=20.0,
        gt=0,
        le=WEEK,
        description="Seconds to wait for the model to read a message or write a reply.",
    )
    mcp_user: str = Field(
        default="local", min_length=1, description="Whose plan and memory `taskloom mcp` serves."
    )
    mcp_thread: str = Field(
        default="main", min_length=1, max_length=200, description="Which thread `taskloom mcp` serves."
    )
    mcp_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Key that `taskloom mcp --http` asks for, 16 characters or more; without one it serves "
        "this machine only.",
    )
    api_keys: SecretStr | None = Field(
        default=None,
        description="Who may call the server, and with which key of 16 characters or more: ann=KEY,bob=KEY.",
    )
    jwt_key: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="Secret (HS256), or public key in PEM (RS256, ES256, EdDSA), of tokens whose `sub` may "
        "call the server.",
    )
    jwt_audience: str | None = Field(default=None, description="What the `aud` of such tokens must be.")
    prices: Path | None = Field(
        default=None,
        description="YAML file with what a million tokens cost, by model, for `taskloom usage`; without one "
        "it shows tokens only.",
    )
    log_format: Literal["json", "text"] | None = Field(
        default=None,
        description="How the command line and servers log to standard error: a JSON object a line, or text; "
        "without it they do not.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="From which level on: debug has what users say, info a line a turn, then warning, error.",
    )
    metrics_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Key that /metrics asks for, as a bearer token of 16 characters or more; without "
        "one, everybody who may call the server gets them.",
    )
    lock_timeout: float = Field(
        default=30.0, gt=0, le=WEEK, description="Seconds to wait for a thread that is in use."
    )
    tracing: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether spans are made for OpenTelemetry: where a collector is named (auto); always, "
        "for an application with a tracer provider (on); or never (off).",
    )
    tracing_text: bool = Field(
        default=False,
        description="Whether spans may hold what users say, replies, and what tools get and give.",
    )
    otlp_endpoint: str | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Address of a collector for OTLP over HTTP; other OTEL_* variables count too.",
    )
    otlp_traces_endpoint: str | None = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        description="The same for spans alone, with its path.",
    )
    traces_exporter: str = Field(
        default="otlp",
        validation_alias="OTEL_TRACES_EXPORTER",
        description="How spans are sent: otlp, or none.",
    )

    @field_validator("home", "tools", "prices")
    @classmethod
    def _expand(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @field_validator("openai_base_url", "chroma_url")
    @classmethod
    def _check_address(cls, address: str | None) -> str | None:
        try:
            _ = address and urlsplit(address).port
        except ValueError:
            raise ValueError("must be an address such as http://localhost:8000") from None
        return address

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _in_small_letters(cls, given: Any) -> Any:
        return given.lower() if isinstance(given, str) else given

    @field_validator("api_keys")
    @classmethod
    def _check_keys(cls, keys: SecretStr | None) -> SecretStr | None:
        pairs = _pairs(keys)
        if any(not user or len(key) < KEY_LENGTH for user, key in pairs):
            raise ValueError(f"must be USER=KEY,USER=KEY with keys of {KEY_LENGTH} characters or more")
        if len({key for _, key in pairs}) < len(pairs):
            raise ValueError("two users have the same key")
        return keys

    @property
    def traced(self) -> bool:
        """Whether spans are made for OpenTelemetry."""
        named = bool(self.otlp_endpoint or self.otlp_traces_endpoint) and self.traces_exporter != "none"
        return self.tracing == "on" or (self.tracing == "auto" and named)

    def users_by_key(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a user and a key that lets them call the server; a user may have several."""
        return _pairs(self.api_keys)


def _pairs(keys: SecretStr | None) -> tuple[tuple[str, str], ...]:
    given = keys.get_secret_value().split(",") if keys is not None else ()
    found = (one.partition("=") for one in given if one.strip())
    return tuple((user.strip(), key.strip()) for user, _, key in found)


@cache
def settings() -> Settings:
    """The settings of this process.

    Raises:
        pydantic.ValidationError: a variable has a value of the wrong form; the message names it.
    """
    return Settings()
