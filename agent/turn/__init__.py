"""What passes between the nodes: steps, readings, briefs, state, clauses; data and protocols only."""
