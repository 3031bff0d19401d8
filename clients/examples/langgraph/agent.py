"""A LangGraph agent whose model calls two tools at the same time and streams, with checkpoints of its thread."""

from langchain_core.messages import SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from timemachine.client.integrations import langchain

recorder = langchain.record()


@tool
def weather(city: str) -> str:
    """Look up the weather."""
    if city == "Atlantis":
        raise ValueError("There is no such city.")
    return f"Sunny in {city}"


model = ChatOpenAI(model="gpt-4o-mini", temperature=0.2, streaming=True, stream_usage=True)
tooled = model.bind_tools([weather])


def desk(state: MessagesState) -> dict[str, object]:
    return {"messages": [tooled.invoke([SystemMessage("Answer with the tools."), *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_node(desk)
builder.add_node("tools", ToolNode([weather], handle_tool_errors=True))
builder.add_edge(START, "desk")
builder.add_conditional_edges("desk", tools_condition)
builder.add_edge("tools", "desk")
graph = builder.compile(checkpointer=langchain.checkpoints(InMemorySaver(), recorder))

config = {"configurable": {"thread_id": "talk-1"}}
for question in ("How is the weather in Rome and Atlantis?", "And tomorrow?"):
    answer = graph.invoke({"messages": [{"role": "user", "content": question}]}, config)
    print(answer["messages"][-1].content)
