"""Replies: from templates, and what a reply may say."""
