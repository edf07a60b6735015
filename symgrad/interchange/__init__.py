"""A Program as JSON and back: what ``export("json")`` writes and ``symgrad.load`` reads.

``writing`` says how each part is written and ``reading`` reads it; ``program.schema.json`` (JSON Schema, draft 2020-12)
and ``docs/program_schema.md`` say the same for others. What is read is data, never code, and all of it is checked.
"""
