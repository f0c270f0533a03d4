"""Chat models: what they are asked, and what is made of their answers."""
