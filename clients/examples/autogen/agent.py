"""An agent of AutoGen that calls two tools at the same time, and streams its second run."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import trace

from timemachine.client.integrations import opentelemetry

opentelemetry.record(name="desk")
AutogenAgentChatInstrumentor().instrument()
OpenAIInstrumentor().instrument()


async def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


async def main() -> None:
    agent = AssistantAgent(
        "Desk",
        OpenAIChatCompletionClient(model="gpt-4o-mini"),
        system_message="Answer with the tools.",
        tools=[weather],
        reflect_on_tool_use=True,
    )
    for question in ("How is the weather in Rome and Atlantis?", "And tomorrow?"):
        answer = await agent.run(task=question)
        print(answer.messages[-1].content)


with trace.get_tracer("desk").start_as_current_span("talk", attributes={"session.id": "talk-1"}):
    asyncio.run(main())
