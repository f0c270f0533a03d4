"""Threads on disk: talked on, listed, exported; with locks and compact checkpoints."""

from .store import ThreadBusyError, ThreadInfo, Threads
from .taskloom import Taskloom

__all__ = ["Taskloom", "ThreadBusyError", "ThreadInfo", "Threads"]
