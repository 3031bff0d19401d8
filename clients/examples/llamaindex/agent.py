"""An agent of LlamaIndex that calls two tools at the same time; it always streams."""

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from timemachine.client.integrations import opentelemetry

opentelemetry.record(name="desk")
LlamaIndexInstrumentor().instrument()


def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


async def main() -> None:
    agent = FunctionAgent(
        name="Desk",
        llm=OpenAI(model="gpt-4o-mini", additional_kwargs={"stream_options": {"include_usage": True}}),
        system_prompt="Answer with the tools.",
        tools=[weather],
    )
    memory = Memory.from_defaults(session_id="talk-1")
    for question in ("How is the weather in Rome and Atlantis?", "And tomorrow?"):
        print(await agent.run(question, memory=memory))


with using_session("talk-1"):
    asyncio.run(main())
