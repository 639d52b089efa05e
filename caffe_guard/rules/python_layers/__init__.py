"""Python layers: module, class, parameters, gradients."""
