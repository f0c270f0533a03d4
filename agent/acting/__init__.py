"""Tasks are carried out by tools."""
