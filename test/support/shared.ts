import { afterAll, beforeAll } from 'vitest';
import type { OnFinished } from './process.ts';

/** Starts something slow once for all tests of a group, and ends it after them. @returns a function that returns it */
export function tShared<Shared>(start: (onFinished: OnFinished) => Promise<Shared>): () => Shared {
  const cleanUps: (() => void | Promise<void>)[] = [];
  let shared: Shared;
  beforeAll(async () => {
    shared = await start((cleanUp) => cleanUps.push(cleanUp));
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });
  return () => shared;
}
