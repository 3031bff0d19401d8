"""Requests to language models in one neutral form, read from and written for each API.

`neutral` has the form, a module for each API converts it, `refusals` names what an API does not accept, `canonical`
hashes and compares requests, and `recorded` reads messages as other tools record them.
"""
