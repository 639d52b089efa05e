"""Caffe's messages from proto/, what the forks add, and the binder that places text under them."""
