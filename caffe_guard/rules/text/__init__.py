"""The text: syntax, kinds of files, encodings."""
