"""The official client of the Model Context Protocol, and its inspector where that is installed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NOTES = {
    "sky/sun.md": "# The sun\n\nThe sun is a star.\n\n## Eclipse\n\nAn eclipse is the shadow of the moon.\n",
    "garden.md": "# Garden\n\nBeans grow in May, and peas before them.\n",
}


@pytest.fixture
def index(tmp_path: Path, command: list[str]) -> Path:
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)
    path = tmp_path / "notes.index"
    subprocess.run([*command, "-q", "sync", str(tmp_path / "notes"), str(path), "--passages", "200"], check=True)
    return path


async def converse(session: Any) -> None:
    """Uses all that is offered. The client checks answers against the schemas of the tools."""
    await session.initialize()
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert {"search", "document", "describe", "concordance"} <= set(tools)

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        answer = await session.call_tool(name, arguments)
        assert not answer.isError, answer.content
        assert json.loads(answer.content[0].text) == answer.structuredContent
        return answer.structuredContent

    found = await call("search", q="shadow", k=1, filter="path:sky/*")
    hit = found["hits"][0]
    assert hit["id"] == "sky/sun.md#1" and hit["heading"] == "The sun > Eclipse"
    text = NOTES[hit["passage"]["document"]].encode()
    assert b"shadow of the moon" in text[hit["start"] : hit["end"]]
    part = await call("document", id=hit["passage"]["document"], around=hit["start"], bytes=20)
    assert part["start"] <= hit["start"]
    assert "shadow" in (await call("document", id=hit["id"], neighbours=1))["text"]
    assert "did you mean" in (await call("search", q="shadw"))["notes"][0]
    assert (await call("search", q="sun", collapse="best"))["total"] == 1
    for name in ("describe", "wordlist", "ngrams", "collocations"):
        await call(name)
    await call("concordance", q="moon")

    resources = (await session.list_resources()).resources
    assert [str(r.uri) for r in resources] == [
        "collocate://notes.index", "collocate://notes.index/garden.md", "collocate://notes.index/sky/sun.md"]
    for r in resources:
        assert (await session.read_resource(r.uri)).contents[0].text
    assert (await session.list_resource_templates()).resourceTemplates
    for prompt in (await session.list_prompts()).prompts:
        arguments = {a.name: "eclipse" for a in prompt.arguments if a.required}
        assert (await session.get_prompt(prompt.name, arguments)).messages
    wrong = await session.call_tool("search", {"q": "sun", "nothing": 1})
    assert wrong.isError and "nothing" in wrong.content[0].text


def test_client_over_pipes(index: Path, command: list[str]) -> None:
    mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")
    stdio = pytest.importorskip("mcp.client.stdio")

    async def main() -> None:
        program = mcp.StdioServerParameters(command=command[0], args=[*command[1:], "mcp", str(index)])
        async with stdio.stdio_client(program) as (read, write), mcp.ClientSession(read, write) as session:
            await converse(session)

    asyncio.run(main())


def test_client_over_http(index: Path, command: list[str]) -> None:
    mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")
    http = pytest.importorskip("mcp.client.streamable_http")
    server = subprocess.Popen([*command, "serve", str(index), "--addr", "127.0.0.1:0", "--json"],
                              stdout=subprocess.PIPE, text=True)

    async def main(url: str) -> None:
        async with http.streamablehttp_client(url + "/mcp") as (read, write, _), mcp.ClientSession(read, write) as session:
            await converse(session)

    try:
        assert server.stdout is not None
        said = ""
        while not (at := re.search(r'"url": ?"([^"]+)"', said)):
            line = server.stdout.readline()
            assert line, said
            said += line
        asyncio.run(main(at[1]))
    finally:
        server.terminate()
        server.wait()


def test_inspector(index: Path, command: list[str]) -> None:
    """Each list and each kind of call in the inspector's own process: it refuses what is malformed."""
    inspector = os.environ.get("MCP_INSPECTOR") or shutil.which("mcp-inspector")
    if not inspector:
        pytest.skip("the npm package @modelcontextprotocol/inspector is not installed")

    def ask(*arguments: str) -> dict[str, Any]:
        done = subprocess.run([inspector, "--cli", *command, "mcp", str(index), *arguments],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and not done.stderr, done.stderr + done.stdout
        return json.loads(done.stdout)

    assert {"search", "document"} <= {tool["name"] for tool in ask("--method", "tools/list")["tools"]}
    assert len(ask("--method", "resources/list")["resources"]) == 3
    assert ask("--method", "resources/templates/list")["resourceTemplates"]
    assert len(ask("--method", "prompts/list")["prompts"]) == 2
    assert ask("--method", "resources/read", "--uri", "collocate://notes.index/garden.md")["contents"][0]["text"]
    assert ask("--method", "prompts/get", "--prompt-name", "answer", "--prompt-args", "question=why")["messages"]
    found = ask("--method", "tools/call", "--tool-name", "search", "--tool-arg", "q=shadow")
    assert found["structuredContent"]["hits"][0]["id"] == "sky/sun.md#1"
