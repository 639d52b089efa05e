"""CG1xx: what is wrong with a solver, alone or together with its nets."""
