import { expect } from 'vitest';
import { tScript } from '../../process.ts';

/** Runs a process of this folder to its end. @returns what it printed */
export async function tOutput(name: string, env: Record<string, string>): Promise<string> {
  const { ended, stdout, stderr } = tScript(`test/support/gateway/stores/${name}.ts`, env);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(stderr()).toBe('');
  return stdout();
}
