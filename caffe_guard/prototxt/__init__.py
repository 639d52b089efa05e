"""The text format: lexer, lossless tree, parser with recovery, edits. Knows nothing of Caffe."""

from __future__ import annotations

from caffe_guard.prototxt.parser import parse
from caffe_guard.prototxt.tree import Field, File, SyntaxProblem

__all__ = ["Field", "File", "SyntaxProblem", "parse"]
