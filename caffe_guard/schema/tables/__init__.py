"""Generated tables; see tools/generate_schema.py."""
