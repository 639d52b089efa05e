"""The net: graph, shapes, counts, gradients."""
