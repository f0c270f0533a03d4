"""Questions grounded: which tasks a question is about, and what it supposes of them. Pure."""

from __future__ import annotations

import re

from taskloom.memory.operations import Check, Question, is_part
from taskloom.memory.tasks import TaskNode

from . import values
from .finding import Finder, is_member, is_person_slot, knows, words_of
from .interpreter import Step
from .lexicon import content, singular, slot_group

_WH = {"when": "when", "where": "place", "who": "people", "time": "time", "date": "date", "day": "date", "amount": "budget", "until": "date",
       "since": "date", "duration": "duration", "whose": "people"}  # fmt: skip


class Asker(Finder):
    """A finder that turns the questions of an utterance into checks."""

    def ask(self, step: Step) -> Check | None:
        """The question of a step, grounded; None where the step asks nothing."""
        asked = step.asked
        if asked is None:
            return None
        known = self.graph.get(step.task or "")
        tasks: tuple[str, ...] = ()
        container = self.graph.get(step.within_task or "") or (self.find(step.within, loose=False) or self.find(step.within, gone=True) if step.within else None)
        value = asked.value
        if known is not None:
            tasks = (known.id,)
        else:
            tasks, value, container = self._about(step, value, container)
        kind = asked.kind
        if kind == "count" and re.match(r"(?:session|meeting|part|group|slot|block|event)s?$", step.target.strip()) and (home := self.container("")) is not None:
            split = [part for part in self.graph.parts(home.id) if is_part(part)]
            if split or any(state.op in ("split", "merge") for part in self.graph.parts(home.id, gone=True) for state in part.states()):
                kind, tasks, value = "count", (home.id,), "parts"
        if kind == "needs" and tasks and not any(self.graph[key].depends_on for key in tasks) and self._has_members(self.graph[tasks[0]]):
            kind = "list"
        if kind == "count" and tasks and (number := self.graph[tasks[0]]) and len(tasks) == 1 and number.id == getattr(self._number_slot(step.target), "id", None):
            kind = "value"
        if kind == "list" and tasks and not self.graph[tasks[0]].active and False:
            kind = "history"
        if kind == "list" and not tasks and (root := self.container("")):
            tasks = (root.id,) if not container else (container.id,)
        if kind == "value" and not tasks and not content(re.sub(r"\b(?:when|where|who|time|date|amount|until|since|duration)\b", " ", step.target)):
            kind = "summary" if not step.target else kind
        if tasks:
            for key in reversed(tasks[:3]):
                if self.graph[key].active:
                    self.touch(key)
        return Check(
            said=step.text[:300], question=Question(
                kind=kind, tasks=tasks, about=step.target, value=value, container=container.id if container else None,
                act=asked.act, denied=asked.denied,
            ),
        )  # fmt: skip

    def _about(self, step: Step, value: str | None, container: TaskNode | None) -> tuple[tuple[str, ...], str | None, TaskNode | None]:
        """The tasks that a question is about, the value it supposes, and the container of that."""
        kind = step.asked.kind if step.asked else "value"
        words = step.target
        if kind in ("claim", "ever"):
            return self._claimed(step, value, container)
        if kind in ("left", "next", "summary") and not words:
            return (), value, container
        parts = [piece for piece in re.split(r",\s*(?:and\s+)?|\s+and\s+", words) if piece.strip()]
        if len(parts) > 1 and kind in ("value", "before"):
            found = [key for piece in parts for key in self._one(piece, step, container)]
            if found:
                return tuple(dict.fromkeys(found)), value, container
        return self._one(words, step, container), value, container

    def _one(self, words: str, step: Step, container: TaskNode | None) -> tuple[str, ...]:
        kind = step.asked.kind if step.asked else "value"
        asked = [w for w in words.lower().split() if w in _WH]
        rest = " ".join(w for w in words.split() if w.lower() not in _WH)
        if kind in ("left", "summary", "list", "next", "count", "dependents", "needs", "why", "status", "history"):
            node = self._whole(rest) if content(rest) else None
            if kind == "list" and container is not None:
                return (container.id,)
            if kind in ("list", "left") and node is not None and (is_member(node) or node.value is not None) and not self.graph.parts(node.id):
                noun = content(rest)
                if kind == "list" and (group := self._of_kind(rest)):
                    return group
                node = node if noun and kind != "list" else self.holder(node)
            if node is None and content(rest):
                if kind in ("list", "count") and (group := self._of_kind(rest)):
                    return group
                node = self.find(rest) or (self.find(rest, gone=True, active=False) if kind in ("why", "status", "history", "dependents", "needs") else None)
                if node is None and kind in ("why", "history", "status"):
                    node = self._any_hit(rest)
                if kind == "count" and (number := self._number_slot(rest)):
                    return (number.id,)
            elif kind == "count" and content(rest) and (number := self._number_slot(rest)):
                return (number.id,)
            if node is None and not content(rest) and kind in ("list", "count"):
                holder = self.container("")
                return (holder.id,) if holder else ()
            if node is None and not content(rest) and kind in ("why", "status", "history"):
                return tuple(n.id for n in self.focus_nodes()[:1])
            return (node.id,) if node is not None else ()
        group = next((_WH[w] for w in asked if _WH[w]), None)
        owner = None
        if content(rest):
            owner = self.slot(rest) if (slot_group(rest) and not group) else None
            owner = owner or self._best_for(rest, group)
            if owner is None and kind == "before":
                owner = self.find(rest, gone=True)
        elif group is None:
            if kind == "before" and (last := self._last_changed()):
                return (last.id,)
            return ()
        if group:
            found = self._slot_of(owner, group)
            if found:
                return found
        if owner is None and group and not content(rest):
            return ()
        return (owner.id,) if owner is not None else ()

    def _of_kind(self, words: str) -> tuple[str, ...]:
        """Members by what they are called: 'guests', 'ingredients of the salad'."""
        noun = singular(words.split()[-1].lower()) if words.split() else ""
        if noun in ("item", "ingredient", "task", "thing", "one", "step", "person", "people", "participant", "guest", "attendee", "stop", "channel", "topic", "category"):
            for scope in self.scopes():
                if scope and self._has_members(self.graph[scope]):
                    return (scope,)
            if noun in ("task", "thing"):
                return ()
        for scope in self.scopes():
            if scope and any(part.name.rstrip("0123456789") == noun for part in self.graph.parts(scope)):
                return (scope,)
        return ()

    def _any_hit(self, words: str) -> TaskNode | None:
        hits = self.hits(words, gone=True)
        return hits[0].node if hits and hits[0].covered >= 0.3 else None

    def _best_for(self, words: str, group: str | None) -> TaskNode | None:
        hits = [hit for hit in self.hits(words) if hit.covered > 0.99]
        if group and hits:
            for hit in hits:
                if self._slot_of(hit.node, group):
                    return hit.node
        if hits:
            return hits[0].node
        if (node := self.slot(words)) is not None:
            return node
        weak = [hit for hit in self.hits(words) if hit.covered >= 0.34]
        if weak:
            return weak[0].node
        return None

    def _slot_of(self, owner: TaskNode | None, group: str) -> tuple[str, ...]:
        """The slot of a kind on a task, on what it is part of, or anywhere near."""
        groups = {"place": ("place", "destination", "hotel", "address"), "date": ("date", "deadline"), "time": ("time",), "people": ("people", "assignee"),
                  "when": ("date", "deadline", "time"), "budget": ("budget",)}.get(group, (group,))  # fmt: skip
        kinds = {"date": ("date",), "time": ("time",), "when": ("date", "time"), "budget": ("amount",), "duration": ("duration",)}.get(group, ())
        scopes = [owner, *self.graph.ancestors(owner.id)] if owner else [self.graph[key] for key in self.scopes() if key]
        for scope in scopes:
            if scope.value is not None and (slot_group(scope.name) in groups or values.kind_of(scope.value) in kinds):
                return (scope.id,)
            found = [
                part.id for part in self.graph.parts(scope.id)
                if (part.value is not None and not is_member(part) and (slot_group(part.name) in groups or values.kind_of(part.value) in kinds))
                or ("people" in groups and is_person_slot(part))
            ]  # fmt: skip
            if found:
                return tuple(found) if group in ("when", "people") else tuple(found[:2])
            if owner is not None and scope.id == owner.id and owner.parent is None and not any(is_part(p) for p in self.graph.parts(scope.id)):
                deeper = [n.id for n in self.graph.subtree(scope.id)[1:] if n.value and (slot_group(n.name) in groups or values.kind_of(n.value) in kinds)]
                return tuple(deeper[:3])
        return ()

    def _claimed(self, step: Step, value: str | None, container: TaskNode | None) -> tuple[tuple[str, ...], str | None, TaskNode | None]:
        """What a claim is about: the slot whose value it supposes, or the container of a member."""
        from .rules import details_of

        words = step.target if len(step.target) >= len(value or "") else value or ""
        supposed = value or words
        if step.slot and (slot := self.slot(step.slot.replace("_", " "))):
            return (slot.id,), self._entity(supposed), container
        _, details, _ = details_of("x " + supposed)
        if re.search(r"\b(?:depart|leav|fly|flying|start|go|travel)\w*\b.*\bfrom\b", words, re.IGNORECASE):
            start = self.slot("start") or next((n for n in self.graph.active if n.value and re.search(r"\bfrom\b", n.value)), None)
            if start is not None:
                return (start.id,), self._entity(re.sub(r".*\bfrom\s+", "", words)), container
        if container is not None and container.value is None:
            entity = self._entity(supposed)
            spans = values.spot("at " + supposed) or values.spot(supposed)
            if spans:
                slots = self._slot_of(container, "time" if spans[-1].kind == "time" else "date" if spans[-1].kind == "date" else "budget" if spans[-1].kind == "amount" else spans[-1].kind)
                if slots:
                    return slots, spans[-1].text, None
            if step.asked and step.asked.kind == "claim" and not is_member(container) and not knows(self.graph, entity):
                slot = self._untyped(container)
                if slot is not None and not self.members(container):
                    return (slot.id,), entity, None
            if not knows(self.graph, entity) and entity[:1].isupper() and (places := self._slot_of(container, "place")) and self.graph[places[0]].parent == container.id:
                return places[:1], entity, None
            member = next((hit.node for hit in self.hits(entity, gone=True, within=container) if hit.covered > 0.99), None)
            return ((member.id,) if member is not None else (container.id,)), entity, container
        if container is not None:
            return (container.id,), self._entity(supposed), None
        spans = values.spot(words) or values.spot("at " + words if re.fullmatch(r"\d{1,2}(?::\d\d)?", words.strip()) else words)
        if spans:
            span = spans[-1]
            rest = (words[: max(0, words.find(span.text))] + words[words.find(span.text) + len(span.text) :]).strip()
            owner = self._best_for(rest, None) if content(rest) else None
            group = {"amount": "budget", "count": "count"}.get(span.kind, span.kind)
            if owner is not None and owner.value is not None and (values.kind_of(owner.value) in (span.kind, None)):
                return (owner.id,), span.text, None
            slots = self._slot_of(owner, group)
            if slots:
                return slots, span.text, None
            if number := self._number_slot(rest):
                return (number.id,), span.text, None
            if owner is not None:
                return (owner.id,), span.text, None
        entity = self._entity(supposed)
        if details and (slot := self.typed_slot(details[0].slot, details[0].value, None)):
            rest = words.replace(details[0].value, "")
            owner = self._best_for(rest, None) if content(rest) else None
            if owner is not None and (own := self._slot_of(owner, details[0].slot)):
                return own, details[0].value, None
            return (slot.id,), details[0].value, None
        rest = " ".join(w for w in words.split() if w.strip(",.").lower() not in entity.lower().split())
        if content(rest):
            slot = self.slot(rest) or self.find(rest, loose=False)
            if slot is not None and slot.value is not None:
                return (slot.id,), entity, None
        if (partly := self._partly(words)) is not None:
            return (partly[0].id,), partly[1], container
        hit = self.find(entity, gone=True, loose=False) or self._former(entity)
        if hit is not None:
            return (hit.id,), entity, container
        if content(rest):
            owner = self._best_for(rest, None)
            if owner is not None:
                return (owner.id,), entity, None
        return (), entity, container

    def _partly(self, words: str) -> tuple[TaskNode, str] | None:
        """A task that is as supposed but for one thing, and that thing: ('puzzle for Jake', 'drone')."""
        wanted = content(words)
        if len(wanted) < 2:
            return None
        for hit in self.hits(words)[:3]:
            present = words_of(hit.node)
            if not present & wanted or wanted <= present or hit.node.value is not None:
                continue
            former = [state for state in hit.node.history if len(wanted & words_of(state)) > len(wanted & present)]
            if not former:
                continue
            missing = (wanted & words_of(former[-1])) - present
            told = [word for word in re.findall(r"[\w'-]+", words) if content(word) & missing]
            return hit.node, " ".join(told)
        return None

    def _former(self, entity: str) -> TaskNode | None:
        wanted = content(entity)
        if not wanted:
            return None
        found = [n for n in self.graph.values() if any(wanted <= words_of(state) for state in n.states())]
        return max(found, key=lambda n: n.turn) if found else None

    def _entity(self, words: str) -> str:
        """The entity in a supposed phrase: its known part, else its proper nouns, else all of it."""
        words = re.sub(r"^(?:it|that|this|we|i|you|they|he|she|there)\b(?:'s|'re)?\s*", "", words.strip(), flags=re.IGNORECASE)
        words = re.sub(r"^(?:said|mention\w*|picked|pick|chose|have|had|going|planned|booked|say|use[d]?|asked? for|wanted?|the|a|an|my|our|to|from|in|at|on|for|about|with|of|as|put|add(?:ed)?|pick(?:ed)?|go(?:ing)? with)\b\s*", "", words, flags=re.IGNORECASE)
        words = re.sub(r"\s+(?:as|for|in|on|to) (?:the|my|our) .+$", "", words)
        if not words:
            return words
        if knows(self.graph, words):
            return words
        proper = re.findall(r"(?:(?<=\s)|^)([A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*)*)", words)
        if proper:
            return max(proper, key=len)
        return words
