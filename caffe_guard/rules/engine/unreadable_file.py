"""A file that was asked for cannot be read, or a folder holds nothing to judge.

What happens
    Nothing is known about it. The other files are judged all the same; when nothing at all could be judged, the exit
    code is 2.

How to fix
    The message gives the system's reason: no such file, permission denied, is a folder.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Severity

CODE = "CG006"
NAME = "unreadable-file"
SEVERITY = Severity.ERROR
SCOPE = "engine"
SINCE = "0.1.0"
BAD = ()
GOOD = ()
