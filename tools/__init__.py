"""Equipped functions: what a task can be carried out with."""
