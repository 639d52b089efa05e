"""Codes that were given up. They are never used again, so that an old suppression cannot silence a new rule."""

from __future__ import annotations

# code -> what replaced it, or why it went
RETIRED: dict[str, str] = {}
