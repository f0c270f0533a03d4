"""Threads on disk: talked on, listed, exported; with locks and compact checkpoints."""

from .checkpoints import STORED, CompactSerializer, UnknownTypeError
from .store import ThreadBusyError, ThreadInfo, Threads
from .taskloom import Taskloom

__all__ = [
    "STORED",
    "CompactSerializer",
    "Taskloom",
    "ThreadBusyError",
    "ThreadInfo",
    "Threads",
    "UnknownTypeError",
]
