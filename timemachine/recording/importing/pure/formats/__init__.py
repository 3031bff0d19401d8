"""The formats, one file or package each, found by themselves: nothing else names one of them.

Each has `NAME` (the word of the API), `TITLE` (what a file of it is, for a sentence), `recognises(opening)` and `read(data)`.
Pure.
"""
