import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The server has a core of its own; the load and the upstream share another. */
export const [loadCore, serverCore] = [0, 1];

export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).error === undefined;

/** @returns the command that runs `command` on one core only, where taskset exists */
export function pin(core: number, command: [string, ...string[]]): [string, ...string[]] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command;
}
