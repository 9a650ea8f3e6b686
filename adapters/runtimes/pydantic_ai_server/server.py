"""A pydantic-ai agent behind AG-UI, for turncheck's HTTP target: ``python server.py [PORT MODEL_PORT]``.

The agent knows one tool of its own, ``clock``; all others are the client's. Its model is whatever turncheck plays.
"""  # noqa: INP001 - a script

import sys

import uvicorn
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def application(model_port: int) -> Starlette:
    """The server; its model is at *model_port* of this machine."""
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{model_port}/v1", api_key="none")
    agent = Agent(OpenAIChatModel("scripted", provider=provider), output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def clock() -> str:
        return "noon"

    async def run(request: Request) -> Response:
        return await AGUIAdapter.dispatch_request(request, agent=agent)

    return Starlette(routes=[Route("/", run, methods=["POST"])])


if __name__ == "__main__":
    own, model = map(int, sys.argv[1:] or (8000, 8790))
    uvicorn.run(application(model), host="127.0.0.1", port=own)
