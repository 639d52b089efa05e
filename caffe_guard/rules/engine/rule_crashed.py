"""A rule of caffe-guard failed; the other rules went on.

What happens
    A fault of ours. The finding names the rule and the error; what that rule would have said of the file is not known.

How to fix
    Please report it with the file, or the part of it that shows the fault. Until it is mended,
    `--ignore` with the rule's code keeps it quiet.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Severity

CODE = "CG000"
NAME = "rule-crashed"
SEVERITY = Severity.ERROR
SCOPE = "engine"
SINCE = "0.1.0"
BAD = ()
GOOD = ()
