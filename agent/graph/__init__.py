"""The LangGraph application: nodes, services, wiring."""
