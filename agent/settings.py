"""The environment, read once. Nothing else in Taskloom looks at environment variables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from taskloom.memory.policies import Addition, Deletion

Style = Literal["template", "model", "auto"]


class Settings(BaseSettings):
    """What the environment says; every field has a default.

    A variable that is set to nothing counts as not set.
    """

    model_config = SettingsConfigDict(
        env_prefix="TASKLOOM_", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    model: str = Field(default="", description="Chat model; '' works without one.")
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    home: Path = Field(default=Path("~/.taskloom"), description="Where threads and memory are kept.")
    memory: bool = Field(default=True, description="Keep and use long-term memory.")
    judge: Literal["trained", "model"] = Field(
        default="trained", description="Who judges what is proposed from memory: trained, or the model."
    )
    experience_addition: Addition = Field(
        default="coarse", description="Which experiences are kept: fixed, all, coarse or strict."
    )
    experience_deletion: Deletion = Field(
        default="history", description="Which go again: none, periodic, history, combined or capacity."
    )
    experience_period: int = Field(default=300, ge=1, description="Experiences that count as recent.")
    experience_alpha: int = Field(default=0, ge=0, description="Idle: used at most so often in a period.")
    experience_n: int = Field(default=5, ge=1, description="Judged by what came of it: used so often.")
    experience_beta: float = Field(default=0.5, ge=0, le=1, description="Harmful: mean utility at or below.")
    experience_limit: int = Field(default=1000, ge=1, description="Most experiences under capacity.")
    embeddings: str = Field(
        default="", description="Embedding model at the same endpoint; '' takes the built-in one."
    )
    chroma_url: str | None = Field(default=None, description="Chroma server; default embedded under home.")
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL for threads and calls; default SQLite under home."
    )
    reader: Literal["auto", "model", "local"] = Field(
        default="auto",
        description="Who reads: the model but for bare answers and sure values of slots (auto), the model "
        "always, or never (local).",
    )
    replies: Style = Field(
        default="auto", description="Who writes replies; auto: templates, the model where none fits."
    )
    tools: Path | None = Field(default=None, description="YAML file with tools; default none.")
    rerun: Literal["offer", "do"] = Field(
        default="offer", description="Results that changes made stale: offer to make them again, or do it."
    )
    max_subtasks: int = Field(default=5, ge=0, description="Calls that the model may choose in one turn.")
    act_seconds: float = Field(default=300.0, gt=0, description="Seconds for all calls of one turn.")
    act_tokens: int = Field(default=50_000, ge=0, description="Tokens of a turn from which none is chosen.")
    model_timeout: float = Field(
        default=20.0, gt=0, description="Seconds in which the model has to read what was said, or to reply."
    )
    lock_timeout: float = Field(default=30.0, gt=0, description="Seconds to wait for a thread in use.")

    @field_validator("home", "tools")
    @classmethod
    def _expand(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()


@cache
def settings() -> Settings:
    """The settings of this process.

    Raises:
        pydantic.ValidationError: a variable has a value of the wrong form; the message names it.
    """
    return Settings()
