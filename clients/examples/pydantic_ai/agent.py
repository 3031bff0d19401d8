"""An agent of Pydantic AI that calls two tools at the same time, and streams its second run."""

import asyncio

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel

from timemachine.client.integrations import opentelemetry

opentelemetry.record(name="desk")
Agent.instrument_all()

agent = Agent(OpenAIChatModel("gpt-4o-mini"), instructions="Answer with the tools.", name="Desk")


@agent.tool_plain
def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ModelRetry("There is no such city.")
    return f"Sunny in {city}"


async def main() -> None:
    first = await agent.run("How is the weather in Rome and Atlantis?", conversation_id="talk-1")
    print(first.output)
    history = first.all_messages()
    async with agent.run_stream(
        "And tomorrow?", message_history=history, conversation_id="talk-1"
    ) as running:
        print(await running.get_output())


asyncio.run(main())
