"""Steps whose tasks are named in words."""
