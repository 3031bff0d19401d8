"""Tests of the MCP server, through the official client."""
