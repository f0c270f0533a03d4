"""Chat models: the clients, the prompts, and the parsing of their answers."""
