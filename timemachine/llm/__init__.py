"""Calling models, which ones there are, what they cost. The only room that imports a vendor's client."""
