"""Costs of recorded work: money, tokens, calls and latency over a range of days, by agent, model, tag, day and tool."""
