import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tSend } from '../support/http/listening-gateway.ts';
import { tScript } from '../support/process.ts';

const isLinux = existsSync('/proc/self/status');

it.skipIf(!isLinux)('does not keep the GraphiQL page in memory', async () => {
  const gateway = tScript('src/main.ts', { PORT: '0' });
  const [, url = ''] = await gateway.printed(/GraphiQL +(\S+\/graphql)\n/);
  const headers = { accept: 'text/html', 'accept-encoding': 'br' };
  const before = readMegabytes(gateway.pid);
  for (let visits = 0; visits < 20; visits += 1) {
    const { status, body } = await tSend(url, { headers });
    expect(status).toBe(200);
    expect(body.byteLength).toBeGreaterThan(1_000_000);
  }
  // Measured: 5 MB. Rendering, compressing and storing the page took 75 MB.
  expect(readMegabytes(gateway.pid) - before).toBeLessThan(30);
});

function readMegabytes(pid: number | undefined): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;
}
