"""An agent of the OpenAI Agents SDK that calls two tools at the same time and hands off to another agent that streams its answer."""

import asyncio

from agents import Agent, Runner, function_tool

from timemachine.client.integrations import openai_agents

openai_agents.record(only=True)


@function_tool
def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


writer = Agent(name="Writer", instructions="Write one sentence.", model="gpt-4o-mini")
agent = Agent(
    name="Desk",
    instructions="Answer with the tools.",
    model="gpt-4o-mini",
    tools=[weather],
    handoffs=[writer],
)


async def main() -> None:
    running = Runner.run_streamed(agent, "How is the weather in Rome and Atlantis?")
    async for _ in running.stream_events():
        pass
    print(running.final_output)


asyncio.run(main())
