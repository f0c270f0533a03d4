"""An utterance becomes steps: the local reader, the network, the gate before a model."""
