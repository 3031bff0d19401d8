"""A Model Context Protocol server over the HTTP API of Time Machine, for `timemachine mcp` and for `/mcp`.

`tools` lists the tools, `server` serves them with the official SDK. Both transports use the same tools and differ only in
their `Api`, which sends the requests of a tool.
"""
