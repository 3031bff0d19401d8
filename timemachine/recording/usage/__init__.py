"""What recorded work cost: money, tokens, calls and latency over a span of days, by agent, model, tag, day and tool."""
