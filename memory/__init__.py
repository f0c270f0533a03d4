"""Task memory and long-term memory: pure data, pure functions, and stores behind protocols."""

from . import quiet as quiet  # before anything can import onnxruntime
