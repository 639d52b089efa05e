"""The file is something else than a prototxt: a web page, a Git LFS pointer, weights, an archive, UTF-16.

What happens
    Caffe's text parser stops at its first character ("Error parsing text-format caffe.NetParameter: 1:1"), which tells
    nobody that the download went wrong.

How to fix
    The message says what the file is. A web page: save the raw file, not the page that shows it. An LFS pointer:
    `git lfs pull`. Weights (.caffemodel) are given to Caffe with -weights, not in place of the net.

Source
    Recognised by the first bytes only; nothing is fetched.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Severity
from caffe_guard.rules.rule import Example

CODE = "CG005"
NAME = "not-a-prototxt"
SEVERITY = Severity.ERROR
SCOPE = "engine"
SINCE = "0.1.0"
BAD = (
    Example("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", expect=[1], caffe="aborts"),
    Example(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 243862418\n", expect=[1], caffe="aborts"
    ),
)
GOOD = (Example('name: "a net"\n'),)
