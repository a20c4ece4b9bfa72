#!/usr/bin/env python3
"""Starts the MCP server of an unpacked bundle as its manifest says, and initializes it.

Usage: packaging/start_bundle.py BUNDLE PROJECT
"""

import json
import subprocess
import sys
from pathlib import Path

bundle, project = Path(sys.argv[1]), sys.argv[2]
server = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["server"]["mcp_config"]
values = {"${__dirname}": str(bundle), "${user_config.project}": project}
command = []
for word in [server["command"], *server["args"]]:
    for name, value in values.items():
        word = word.replace(name, value)
    command.append(word)
client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
done = subprocess.run(command, input=json.dumps(request) + "\n", capture_output=True, encoding="utf-8", timeout=30)
answer = json.loads(done.stdout.splitlines()[0])
assert answer["id"] == 1 and answer["result"]["serverInfo"]["name"] == "qipu", answer
