"""The import formats, one module or package each. They are discovered, so nothing else names them.

Each has `NAME` (used by the API), `TITLE` (what a file is called in a sentence), `recognises(opening)` and
`read(reader)`.
"""
