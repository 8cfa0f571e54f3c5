#!/usr/bin/env node
import { runCommandLine } from '#dist/cli/program.js';

process.exitCode = await runCommandLine(process.argv.slice(2));
