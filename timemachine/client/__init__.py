"""Talking to a Time Machine server over HTTP. Imports no room and no Django."""
