"""The parts of the ONNX exporter: the graph that is built, and how each operation is written in it."""
