"""Steps become operations on task ids."""
