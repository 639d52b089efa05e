"""The solver: a typed view of SolverParameter, and the learning rate as Caffe computes it."""
