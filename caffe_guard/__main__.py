"""``python -m caffe_guard`` is the ``caffe-guard`` command."""

from __future__ import annotations

import sys

from caffe_guard.cli import main

if __name__ == "__main__":
    sys.exit(main())
