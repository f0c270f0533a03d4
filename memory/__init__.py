"""Task memory and long-term memory: pure data, pure functions, and stores behind protocols."""
