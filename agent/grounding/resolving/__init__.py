"""Clauses that the network read become steps with ids."""
