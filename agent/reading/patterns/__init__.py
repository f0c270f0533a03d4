"""The patterns that read English without a network."""
