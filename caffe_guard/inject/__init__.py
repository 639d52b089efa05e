"""Puts guards of the pack into a net's text, and takes them out again byte for byte."""
