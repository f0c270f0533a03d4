"""The agent: the graph, its nodes, the interpreters and the command line."""
