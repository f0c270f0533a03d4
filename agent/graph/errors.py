"""What can be wrong with a database; here, as its library may be missing."""

from __future__ import annotations


class DatabaseError(Exception):
    """The database cannot be reached, or refuses. The message says what to do and shows no credentials."""


class MissingLibraryError(Exception):
    """The library for PostgreSQL is not installed; the message says how to install it."""
