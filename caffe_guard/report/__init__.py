"""Reports: one module an output format, each a function from a result to text."""
