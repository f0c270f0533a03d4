"""The local reader: what was said, read into clauses with their acts and the words that they are about."""
