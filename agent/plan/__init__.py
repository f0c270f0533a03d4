"""Looking things up in the task graph: who is meant, kinds and their slots, the outline for a prompt."""
