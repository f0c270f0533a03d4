"""Parts for other agents: the plan as middleware, as tools and as a server of the Model Context Protocol."""
