"""From settings to services, for the command line and the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.reading.gate import English, Gate
from taskloom.agent.reading.local import packaged as packaged_reader
from taskloom.agent.reading.vouched import Vouched
from taskloom.agent.recall.experiences import ExperiencedInterpreter
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings, settings
from taskloom.agent.telemetry.configured import watch_as_configured
from taskloom.agent.turn.reading import Interpreter, View
from taskloom.agent.turn.schemas import SchemaError
from taskloom.memory.embed import Embedder
from taskloom.memory.lease import WAIT, Notify
from taskloom.memory.policies import Policy
from taskloom.memory.store import Store
from taskloom.memory.tasks import TaskGraph

from .databases import JOURNAL, OUTBOX, open_journal, open_outbox
from .services import Services, Voice

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from taskloom.agent.models.chat import ChatModel
    from taskloom.agent.models.narrator import Narrator
    from taskloom.agent.recall.recordings import Recordings
    from taskloom.tools.loading import Loaded

__all__ = [
    "JOURNAL",
    "OUTBOX",
    "chat_models",
    "default_services",
    "equipment_of",
    "loaded_tools",
    "longterm_of",
]

NO_MODEL = ("", "rules")
MEMORY = "memory"  # under the home


def default_services(
    given: Settings | None = None, *, kept: bool = True, model: BaseChatModel | None = None
) -> Services:
    """The services that the settings ask for: the local reader alone, or with a model.

    Args:
        given: the settings; without them those of the environment.
        kept: whether there will be later sessions; if not, no model is asked what they would want to know.
        model: a chat model of the application's own, in place of the one that the settings name. Another one
            that a run asks for by its name is still looked for at their endpoint.
    """
    given = given or settings()
    watch_as_configured(given)
    if model is not None:
        from taskloom.agent.models.langchain import name_of

        given = given.model_copy(update={"model": name_of(model)})
    template, chats = TemplateResponder(), chat_models(given, model)
    memory = longterm_of(given, chats, kept=kept)
    local = packaged_reader()
    alone = English(ExperiencedInterpreter(local))

    @cache
    def voice(model: str) -> Voice:
        name = model or given.model
        if name in NO_MODEL:
            return Voice(alone, template)
        from taskloom.agent.models.interpreter import ModelInterpreter  # a second to import
        from taskloom.agent.models.responder import ModelResponder  # a second to import

        chat = chats(name)
        interpreter: Interpreter = English(replace(local, answered=True))
        if given.reader != "local":
            interpreter = Gate(Vouched(ModelInterpreter(chat, alone), local), given.reader, local.fills)
        from taskloom.agent.models.chooser import ModelChooser

        return Voice(interpreter, ModelResponder(chat), ModelChooser(chat), chat)

    return Services(
        voice=voice, template=template, replies=given.replies, memory=memory,
        tools=equipment_of(given, model, memory),
        loads=_loads(given, local, memory),
    )  # fmt: skip


def _loads(given: Settings, reader: Interpreter, memory: LongTerm | None) -> tuple[Callable[[], object], ...]:
    """What can be loaded before the first turn: the reader, and memory on this machine."""
    read = partial(reader.read, "Plan a trip to Rome on Friday", View(TaskGraph()))
    if memory is None or given.chroma_url or not (given.home / MEMORY).exists():
        return (read,)
    opened = partial(getattr, memory, "store")
    return (read, opened) if given.embeddings else (read, opened, partial(_embedder(given), ("trip",)))


def chat_models(given: Settings, own: BaseChatModel | None = None) -> Callable[[str], ChatModel]:
    """A function from a name to its chat model: one for all users, so that all know when it is down.

    own: the application's, which has the name that is in the settings.
    """

    @cache
    def chat(name: str) -> ChatModel:
        if own is not None and name == given.model:
            from taskloom.agent.models.chat import ModelSettings
            from taskloom.agent.models.langchain import LangChainModel

            return LangChainModel(own, ModelSettings(name, patience=given.model_timeout))
        from taskloom.agent.models.openai import chat_model

        return chat_model(given, name)

    return chat


def equipment_of(
    given: Settings, model: BaseChatModel | None = None, memory: LongTerm | None = None
) -> Equipment | None:
    """The tools of the file that the settings name, made; None where they name none.

    model: what carries out those that are a model's, in place of the one that the settings name.
    memory: where recordings are kept, for tools that look things up in them.

    Raises:
        ToolDefinitionError: the file or a tool in it is not right; the message names all of that.
    """
    if given.tools is None:
        return None
    loaded, journal = loaded_tools(given, model, memory), open_journal(given)

    def close() -> None:
        loaded.close()
        journal.shut()

    return Equipment(
        registry=loaded.registry, journal=journal, rerun=given.rerun,
        max_subtasks=given.max_subtasks, seconds=given.act_seconds, tokens=given.act_tokens,
        context=loaded.config.context, shared=loaded.config.shared, bank=loaded.bank,
        schemas=schemas_in(loaded.schemas) if loaded.schemas else (), close=close,
    )  # fmt: skip


def schemas_in(path: Path) -> tuple[dict[str, Any], ...]:
    """The task schemas of a file, as a context takes them.

    Raises:
        SchemaError: it holds none, or wrong ones; the message names the file.
        OSError: it cannot be read.
    """
    try:
        found = load_schemas(path.read_bytes().decode("utf-8-sig", "replace"))
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from error
    return tuple(schema.model_dump() for schema in found)


def loaded_tools(given: Settings, own: BaseChatModel | None = None, memory: LongTerm | None = None) -> Loaded:
    """The tools of the file that the settings name, selected by the ranking of long-term memory.

    own: a chat model in place of the one that the settings name. memory: where recordings are kept.

    Raises:
        ToolDefinitionError: the file or a tool in it is not right; the message names all of that.
    """
    from taskloom.agent.acting.index import HybridIndex
    from taskloom.tools.loading import load_agent

    def model() -> BaseChatModel:
        if own is not None:
            from taskloom.agent.models.langchain import quiet

            return quiet(own)
        from taskloom.agent.models.openai import chat_client

        return chat_client(given)

    kept = memory or longterm_of(given)
    embedder, chats = cache(partial(_embedder, given)), chat_models(given, own)
    asked = model if own is not None or given.model not in NO_MODEL else None

    def recordings(longterm: LongTerm, user: str, seconds: float) -> Recordings:
        from taskloom.agent.recall.recordings import Recordings

        if asked is None:
            return Recordings(longterm, user)
        from taskloom.agent.models.eyes import Eyes

        return Recordings(longterm, user, eyes=Eyes(chats(given.model), seconds=seconds))

    loaded = load_agent(
        given.tools or Path(),
        index=partial(HybridIndex, embedder, requests=True),
        documents=partial(HybridIndex, embedder),
        model=asked,
        recordings=None if kept is None else partial(recordings, kept),
    )
    if memory is None and kept is not None:
        loaded.resources.callback(kept.close)
    return loaded


def longterm_of(
    given: Settings,
    chats: Callable[[str], ChatModel] | None = None,
    *,
    kept: bool = True,
    wait: float = WAIT,
    notify: Notify | None = None,
) -> LongTerm | None:
    """Long-term memory as the settings want it, under their home; nothing is opened yet.

    Args:
        given: the settings.
        chats: gives the chat model of a name, where others use it too.
        kept: whether there will be later sessions.
        wait: seconds to wait for another process to release an embedded memory.
        notify: called with a message when that takes a while; without one it is logged.
    """
    if not given.memory:
        return None

    def opened() -> Store:
        from taskloom.memory.store import ChromaStore  # with what it imports, another second

        if given.chroma_url:
            return ChromaStore.server(given.chroma_url, _embedder(given))
        more = {} if notify is None else {"notify": notify}
        return ChromaStore.embedded(given.home / MEMORY, _embedder(given), wait=wait, **more)

    @cache
    def narrator() -> Narrator:
        from taskloom.agent.models.narrator import Narrator

        return Narrator((chats or chat_models(given))(given.model))

    policy = Policy(
        addition=given.experience_addition,
        deletion=given.experience_deletion,
        period=given.experience_period,
        alpha=given.experience_alpha,
        n=given.experience_n,
        beta=given.experience_beta,
        limit=given.experience_limit,
    )
    telling = narrator if given.model not in NO_MODEL else None
    return LongTerm(
        opened, partial(open_outbox, given), policy, telling,
        model_judges=given.judge == "model", model_tells=kept,
    )  # fmt: skip


def _embedder(given: Settings) -> Embedder:
    """The embedding model of the settings: at an endpoint, or the one that comes with the package."""
    if given.embeddings:
        from taskloom.agent.models.openai import EndpointEmbedder

        return EndpointEmbedder(given.embeddings, given.openai_api_key, given.openai_base_url)
    from taskloom.memory.embed import packaged

    return packaged()
