#!/usr/bin/env node
// Runs the program of the package for this system, with the same arguments, streams, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

function programPath() {
  const name = `qipu-${process.platform}-${process.arch}`;
  const program = process.platform === "win32" ? "qipu.exe" : "qipu";
  try {
    return require.resolve(`${name}/${program}`);
  } catch {
    console.error(`qipu: the package ${name} is missing: either there is no build for this system,`);
    console.error("or the packages were installed without optional dependencies");
    process.exit(1);
  }
}

const child = spawn(programPath(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // A terminal sends SIGINT to both processes; the launcher waits for the program's own answer to it.
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`qipu: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
