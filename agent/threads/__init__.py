"""Threads on disk: talked on, listed, exported; with locks and compact checkpoints."""

from taskloom.agent.graph.plain import STORED, UnknownTypeError

from .checkpoints import CompactSerializer
from .pruning import Keep, Pruned
from .store import ThreadBusyError, ThreadInfo, Threads
from .taskloom import Taskloom

__all__ = [
    "STORED",
    "CompactSerializer",
    "Keep",
    "Pruned",
    "Taskloom",
    "ThreadBusyError",
    "ThreadInfo",
    "Threads",
    "UnknownTypeError",
]
