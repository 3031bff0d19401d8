"""Answering the requests of an agent from the record, without a model: `timemachine proxy --playback` does it.

All of it is in `pure`, because the client runs it without Django.
"""
