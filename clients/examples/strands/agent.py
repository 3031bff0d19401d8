"""An agent of Strands that calls two tools at the same time; it always streams."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from timemachine.client.integrations import opentelemetry

opentelemetry.record(name="desk")


@tool
def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


agent = Agent(
    OpenAIModel(model_id="gpt-4o-mini"),
    system_prompt="Answer with the tools.",
    tools=[weather],
    name="Desk",
    callback_handler=None,
    trace_attributes={"session.id": "talk-1"},
)
print(agent("How is the weather in Rome and Atlantis?"))
print(agent("And tomorrow?"))
