"""A crew of CrewAI whose agent calls two tools at the same time, and then answers a second question."""

from crewai import Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation import using_session
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor

from timemachine.client.integrations import opentelemetry

opentelemetry.record(name="desk")
CrewAIInstrumentor().instrument()
OpenAIInstrumentor().instrument()


@tool
def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


desk = Agent(
    role="Desk",
    goal="Answer questions about the weather.",
    backstory="Answer with the tools.",
    tools=[weather],
    llm="openai/gpt-4o-mini",
)
question = Task(
    description="How is the weather in Rome and Atlantis?",
    expected_output="One sentence.",
    agent=desk,
)
again = Task(description="And tomorrow?", expected_output="One sentence.", agent=desk)

with using_session("talk-1"):
    answer = Crew(name="Weather", agents=[desk], tasks=[question, again]).kickoff()
for each in answer.tasks_output:
    print(each.raw)
