"""Uses every tool, prompt and resource of `qipu mcp` with the official Python SDK, as cases.json says.

    client.py CASES PROJECT QIPU...
"""
import asyncio
import json
import sys

import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


def expect(holds, *seen):
    if not holds:
        raise SystemExit(f"failed: {seen}")


def expect_text(text, case, banner):
    expect(case["says"] in text, case, text)
    if case["has_notes"]:
        expect(text.startswith((banner, "> " + banner)), case, text)


async def check_tools(client, cases, is_structured):
    tools = (await client.list_tools()).tools
    expect({tool.name for tool in tools} == {case["name"] for case in cases["tools"]}, tools)
    expect(all(tool.title and tool.annotations and tool.output_schema is None for tool in tools), tools)
    for case in cases["tools"]:
        result = await client.call_tool(case["name"], case["arguments"])
        expect(not result.is_error and [block.type for block in result.content] == ["text"], case, result)
        expect_text(result.content[0].text, case, cases["banner"])
        content = result.structured_content
        expect((content is not None) == (is_structured and case["has_notes"]), case, content)
        if content is not None:
            expect(content["banner"] == cases["banner"], content)
            expect(case["says"] in json.dumps(content, ensure_ascii=False), case, content)


async def check_prompts_and_resources(client, cases):
    prompts = (await client.list_prompts()).prompts
    expect([prompt.name for prompt in prompts] == [case["name"] for case in cases["prompts"]], prompts)
    for case in cases["prompts"]:
        messages = (await client.get_prompt(case["name"], case["arguments"])).messages
        expect(len(messages) == 1, messages)
        expect_text(messages[0].content.text, case, cases["banner"])
    resources = (await client.list_resources()).resources
    expect(len(resources) >= cases["least_resources"], resources)
    templates = (await client.list_resource_templates()).resource_templates
    expect([template.uri_template for template in templates] == [cases["template"]], templates)
    resource = cases["resource"]
    text = (await client.read_resource(resource["uri"])).contents[0].text
    expect_text(text, {**resource, "has_notes": True}, cases["banner"])
    try:
        seen = await client.read_resource(resource["missing"])
    except MCPError as error:
        expect(error.error.code in (-32002, -32602), error)
    else:
        expect(False, seen)


async def main(cases, project, command):
    for mode, version in cases["versions"].items():
        # The SDK offers only its latest version with a handshake.
        is_legacy = mode.startswith("2025")
        if is_legacy:
            mcp.client.session.LATEST_HANDSHAKE_VERSION = mode
        for flags in [], ["--structured"]:
            server = StdioServerParameters(command=command[0], args=[*command[1:], *flags], cwd=project)
            async with Client(server, mode="legacy" if is_legacy else mode, read_timeout_seconds=60) as client:
                expect(client.protocol_version == version, client.protocol_version)
                await check_tools(client, cases, bool(flags))
                await check_prompts_and_resources(client, cases)
        print(f"Python SDK, {mode}: ok")


with open(sys.argv[1], encoding="utf-8") as file:
    asyncio.run(main(json.load(file), sys.argv[2], sys.argv[3:]))
