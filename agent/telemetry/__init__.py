"""What a process reports of its work to those who run it; no text of a user's by itself."""
