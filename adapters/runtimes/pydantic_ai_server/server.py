"""A pydantic-ai agent behind AG-UI, for turncheck's HTTP target: ``python server.py [PORT]``.

The agent knows one tool of its own, ``clock``; all others are the client's. Its model is at ``OPENAI_BASE_URL``,
which must be turncheck's: ``http://127.0.0.1:8790/$TURNCHECK_MODEL_SECRET/v1``.
"""  # noqa: INP001 - a script

import os
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


def application(model: str) -> Starlette:
    """The server; *model* is the base URL of its model."""
    provider = OpenAIProvider(base_url=model, api_key="none")
    agent = Agent(OpenAIChatModel("scripted", provider=provider), output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def clock() -> str:
        return "noon"

    async def run(request: Request) -> Response:
        return await AGUIAdapter.dispatch_request(request, agent=agent)

    return Starlette(routes=[Route("/", run, methods=["POST"])])


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    uvicorn.run(application(os.environ["OPENAI_BASE_URL"]), host="127.0.0.1", port=port)
