"""Recordings: what was said in them, and what is to be seen."""
