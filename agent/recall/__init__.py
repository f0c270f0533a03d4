"""Long-term memory at hand: facts, experiences, intent units of earlier sessions."""
