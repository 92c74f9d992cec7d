import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tGatewayProcess } from '../support/gateway-process.ts';
import { tSend } from '../support/http/listening-gateway.ts';

const isLinux = existsSync('/proc/self/status');

it.skipIf(!isLinux)('does not keep the GraphiQL page in memory', async () => {
  const { process, origin } = await tGatewayProcess();
  const headers = { accept: 'text/html', 'accept-encoding': 'br' };
  const before = readMegabytes(process.pid);
  for (let visits = 0; visits < 20; visits += 1) {
    const { status, body } = await tSend(`${origin}/graphql`, { headers });
    expect(status).toBe(200);
    expect(body.byteLength).toBeGreaterThan(1_000_000);
  }
  // Measured: 5 MB. Rendering, compressing and storing the page took 75 MB.
  expect(readMegabytes(process.pid) - before).toBeLessThan(30);
});

function readMegabytes(pid: number | undefined): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;
}
