"""The schema: fields, types, values, old formats."""
