import { setFlagsFromString } from 'node:v8';
import { expect, it, onTestFinished } from 'vitest';
import { type CheckJob, startCheck } from '../../src/check/endpoint/run-worker.ts';

/* What ends the thread of a check, besides its result: test/gateway/http/check-endpoint.test.ts has the results. */

function tRun(code: string, maxWorkMs = 600_000) {
  const job: CheckJob = {
    format: 'json',
    columnNames: { iban: null, bic: null, name: null },
    encoding: null,
    profile: 'auto',
    ...{ dataDir: '/nowhere', maxIbans: 1, maxAnswerBytes: 1 },
  };
  const written: string[] = [];
  const write = (bytes: Uint8Array) => {
    written.push(Buffer.from(bytes).toString());
    return null;
  };
  const file = new URL(`data:text/javascript,import { parentPort } from 'node:worker_threads'; ${code}`);
  const asked: string[] = [];
  const source = {
    async ask(iban: string) {
      asked.push(iban);
      return { kind: 'failed', code: `CODE-${iban}` } as const;
    },
  };
  const run = startCheck({ job, source, write, maxWorkMs, file });
  onTestFinished(run.stop);
  return { ...run, written };
}

const output = "process.stdout.write('row');";

it.each([
  ['works too long', 'for (;;);', 200, 'time'],
  // In turns, as a check works: Node.js 24 does not end one loop that allocates without an end. In arrays of their own: one that is too
  // long would be an error of the program.
  [
    'needs too much memory',
    'const all = []; setInterval(() => { for (let n = 0; n < 1000; n += 1) all.push(new Array(1000).fill(n)); });',
    600_000,
    'memory',
  ],
])('a file whose thread %s is refused, after the rows that are known', async (_, code, maxWorkMs, what) => {
  const { ended, written } = tRun(`${output} setTimeout(() => { ${code} }, 50);`, maxWorkMs);
  expect(await ended).toEqual({
    kind: 'failed',
    message: `the check of the file needs too much ${what}; send it in parts`,
  });
  expect(written).toEqual(['row']);
});

it('the heap of a thread has its limit, whatever that of the process is', async () => {
  setFlagsFromString('--max-old-space-size=2000');
  const { ended, written } = tRun(
    `import { getHeapStatistics } from 'node:v8';
    process.stdout.write(String(getHeapStatistics().heap_size_limit), () => parentPort.postMessage({ kind: 'ended', end: { kind: 'complete' } }));`,
  );
  expect(await ended).toEqual({ kind: 'complete' });
  expect(Number(written.join(''))).toBeLessThan(300_000_000);
});

it('a thread that waits for its client is not ended by the time limit of its work', async () => {
  // It ends when it has waited longer than it may work.
  const { ended } = tRun(
    `setInterval(() => {
      const { idle } = performance.eventLoopUtilization();
      if (idle > 2500) parentPort.postMessage({ kind: 'ended', end: { kind: 'complete' } });
    }, 100);`,
    2_000,
  );
  expect(await ended).toEqual({ kind: 'complete' });
});

it.each([
  ['a fault of its code', "throw new Error('broken')", 'broken'],
  ['an end without a result', 'process.exit()', 'The thread of a check has ended before the check.'],
])('%s is a fault of the gateway', async (_, code, message) => {
  await expect(tRun(code).ended).rejects.toThrow(message);
});

it('a busy thread ends when its client leaves', async () => {
  const { ended, leave, stop } = tRun('for (;;);');
  leave();
  expect(await ended).toEqual({ kind: 'left' });
  await stop();
});

it('each list of questions has its answers once, in its order', async () => {
  const { ended } = tRun(`
    const lists = [['a', 'b'], ['c'], ['d']];
    const open = new Set(lists.keys());
    parentPort.on('message', ({ list, answers }) => {
      const isRight = answers.length === lists[list].length && answers.every(({ code }, index) => code === 'CODE-' + lists[list][index]);
      if (!isRight || !open.delete(list)) throw new Error('wrong');
      if (open.size === 0) parentPort.postMessage({ kind: 'ended', end: { kind: 'complete' } });
    });
    for (const [list, ibans] of lists.entries()) parentPort.postMessage({ kind: 'asked', list, ibans });`);
  expect(await ended).toEqual({ kind: 'complete' });
});

it('a body is taken in bounded parts, and without a limit while the client reads nothing', async () => {
  const { add, ended, leave } = tRun('setTimeout(() => {}, 60000);');
  const part = Buffer.alloc(200_000);
  const first = add(part);
  expect(await Promise.race([first, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits');
  leave();
  await first;
  expect(await ended).toEqual({ kind: 'left' });
});
