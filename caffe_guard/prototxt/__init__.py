"""The text format: lexer, lossless tree, parser with recovery, edits. Knows nothing of Caffe."""
