"""Forks: what BVLC Caffe does not know."""
