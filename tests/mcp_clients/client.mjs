// Uses every tool, prompt and resource of `qipu mcp` with the official TypeScript SDK, as cases.json says: with its
// version 2, and with its version 1, which knows only versions of the protocol before 2026-07-28.
//
//   node client.mjs CASES PROJECT QIPU...
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {Client as OldClient} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as OldTransport} from '@modelcontextprotocol/sdk/client/stdio.js';

const [casesFile, project, ...command] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(casesFile, 'utf8'));
const info = {name: 'qipu-test', version: '1'};

function checkText(text, test) {
  assert.ok(text.includes(test.says), `${JSON.stringify(test)}: ${text}`);
  if (test.has_notes) assert.ok(text.replace(/^> /, '').startsWith(cases.banner), text);
}

async function checkTools(client, isStructured) {
  const {tools} = await client.listTools();
  assert.deepEqual(new Set(tools.map(tool => tool.name)), new Set(cases.tools.map(test => test.name)));
  for (const tool of tools) assert.ok(tool.title && tool.annotations && !tool.outputSchema, JSON.stringify(tool));
  for (const test of cases.tools) {
    const result = await client.callTool({name: test.name, arguments: test.arguments});
    assert.ok(!result.isError, JSON.stringify(result));
    assert.deepEqual(result.content.map(block => block.type), ['text']);
    checkText(result.content[0].text, test);
    const content = result.structuredContent;
    assert.equal(content !== undefined, isStructured && test.has_notes, JSON.stringify(result));
    if (content !== undefined) {
      assert.equal(content.banner, cases.banner);
      assert.ok(JSON.stringify(content).includes(test.says), JSON.stringify(content));
    }
  }
}

async function checkPromptsAndResources(client) {
  const {prompts} = await client.listPrompts();
  assert.deepEqual(prompts.map(prompt => prompt.name), cases.prompts.map(test => test.name));
  for (const test of cases.prompts) {
    const {messages} = await client.getPrompt({name: test.name, arguments: test.arguments});
    assert.equal(messages.length, 1);
    checkText(messages[0].content.text, test);
  }
  const {resources} = await client.listResources();
  assert.ok(resources.length >= cases.least_resources, resources.length);
  const {resourceTemplates} = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(template => template.uriTemplate), [cases.template]);
  const {contents} = await client.readResource({uri: cases.resource.uri});
  checkText(contents[0].text, {...cases.resource, has_notes: true});
  await assert.rejects(client.readResource({uri: cases.resource.missing}), error => [-32002, -32602].includes(error.code));
}

async function check(client, Transport, flags) {
  await client.connect(new Transport({command: command[0], args: [...command.slice(1), ...flags], cwd: project}));
  await checkTools(client, flags.length > 0);
  await checkPromptsAndResources(client);
  const version = client.getNegotiatedProtocolVersion?.();
  await client.close();
  return version;
}

for (const flags of [[], ['--structured']]) {
  for (const [mode, version] of Object.entries(cases.versions)) {
    const settings = mode.startsWith('2025')
      ? {versionNegotiation: {mode: 'legacy'}, supportedProtocolVersions: [mode]}
      : {versionNegotiation: {mode: mode === 'auto' ? mode : {pin: mode}}};
    assert.equal(await check(new Client(info, settings), StdioClientTransport, flags), version);
    console.log(`TypeScript SDK 2, ${mode} ${flags}: ok`);
  }
  await check(new OldClient(info), OldTransport, flags);
  console.log(`TypeScript SDK 1 ${flags}: ok`);
}
