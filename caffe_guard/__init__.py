"""caffe-guard: finds what makes a Caffe training turn NaN, stick or learn nothing."""

__version__ = "0.1.0"
