import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { tCommand } from '../../support/process.ts';

it.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, and prints only its address', async (signal) => {
  const service = tCommand(['bank-data-service'], { BANK_DATA_API_KEY: 'right-key', BANK_DATA_SERVICE_PORT: '0' });
  const [line, url] = await service.printed(/^The bank-data service listens on (http:\/\/127\.0\.0\.1:\d+)\n$/);
  const headers = { apikey: 'right-key' };
  const answer = await fetch(`${url}/bank_data/iban_validate?iban_number=DE89370400440532013000`, { headers });
  expect(await answer.json()).toMatchObject({ valid: true });
  service.kill(signal);
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(service.stdout() + service.stderr()).toBe(line);
});

it('describes what its configuration lacks', async () => {
  const service = tCommand(['bank-data-service'], { BANK_DATA_SERVICE_PORT: 'many' });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.stdout()).toBe('');
  expect(service.stderr()).toContain('BANK_DATA_API_KEY: missing');
  expect(service.stderr()).toContain('BANK_DATA_SERVICE_PORT: must be a whole number');
  expect(service.stderr()).not.toMatch(/^\s+at /m);
});

it('reports that its port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = String(typeof address === 'object' && address?.port);
  const service = tCommand(['bank-data-service'], { BANK_DATA_API_KEY: 'right-key', BANK_DATA_SERVICE_PORT: port });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  other.close();
  expect(service.stdout()).toBe('');
  expect(service.stderr()).toBe(
    `Cannot listen on 127.0.0.1, port ${port}: another process listens there already; set BANK_DATA_SERVICE_PORT to a free port.\n`,
  );
});
