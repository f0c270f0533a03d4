"""What tokens cost, from a file; no prices are built in, as they would age.

currency: USD
models:
gpt-4.1-mini: {input: 0.40, output: 1.60}   # for a million tokens
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taskloom.tools.plain_yaml import SIZE, Loader

from .problems import InputError

MILLION = 1_000_000
Amount = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Price(BaseModel):
    """What a million tokens cost that a model is sent, and that it writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    input: Amount
    output: Amount


class Prices(BaseModel):
    """Prices by the names of models, in one currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    currency: str = Field(default="", max_length=20)
    models: dict[str, Price] = {}

    @classmethod
    def load(cls, path: Path | None) -> Prices:
        """The prices in a file; none without one.

        Raises:
            InputError: it cannot be read, or is not of this form; the message names file and place.
        """
        if path is None:
            return cls()
        try:
            if path.stat().st_size > SIZE:
                raise InputError(f"{path} is larger than {SIZE:,} bytes, too large for a list of prices")
            given = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506  # a SafeLoader
        except OSError as error:
            raise InputError(f"TASKLOOM_PRICES: {path} cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            why = " ".join(str(error).split())[:200]
            raise InputError(f"TASKLOOM_PRICES: {path} is not valid YAML: {why}") from error
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the file"
            form = "expected {currency: USD, models: {NAME: {input: 0.4, output: 1.6}}}"
            raise InputError(f"TASKLOOM_PRICES: {path}: {place}: {first['msg'].lower()}: {form}") from error

    def cost(self, model: str, prompt: int, completion: int) -> Decimal | None:
        """What tokens of a model cost; None where its price is not known."""
        if (price := self.models.get(model)) is None:
            return None
        return (price.input * prompt + price.output * completion) / MILLION
