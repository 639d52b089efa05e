"""Findings that the engine itself reports."""
