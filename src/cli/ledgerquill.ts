#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';

/* The `ledgerquill` command. Exit codes: 0; 1 for a failure or a wrong configuration; 2 for wrong usage. */

try {
  await createProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // It has printed its message. Help and the version are errors with the exit code 0.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
