"""Irrevocable redaction: chosen fields, or what a profile finds, leave every table in which their session keeps or repeats them."""
