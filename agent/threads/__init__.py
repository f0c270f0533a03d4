"""Threads on disk, locks, checkpoints."""
