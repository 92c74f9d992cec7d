import { describe, expect, it } from 'vitest';
import { tListeningGateway, tSend } from '../support/http/listening-gateway.ts';

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';

describe('a gateway that only this machine can reach', () => {
  it.each(['localhost', 'localhost:4000', 'LOCALHOST', '127.0.0.1:4000', '127.1.2.3', '[::1]', '[::1]:4000'])(
    'is available under the host name %s',
    async (host) => {
      const { post } = await tListeningGateway();
      expect((await post({ query: '{ __typename }' }, { host })).status).toBe(200);
    },
  );

  it.each(['rebound.example', 'localhost.rebound.example', '127.0.0.1.nip.example:80', '0.0.0.0', '10.0.0.5', '[::2]'])(
    'is not available under the host name %s, which could be that of a DNS rebinding attack',
    async (host) => {
      const { post, get, url, upstream } = await tListeningGateway();
      const page = await tSend(url, { headers: { host, accept: 'text/html' } });
      for (const rejected of [await post({ query }, { host }), await get({ query }, { host }), page]) {
        expect(rejected.status).toBe(421);
        expect(rejected.json().errors[0]?.message).toContain('ALLOWED_HOSTS');
      }
      expect(upstream.calls).toHaveLength(0);
    },
  );

  it('is also available under the listed names, such as that of a proxy', async () => {
    const { post } = await tListeningGateway({ ALLOWED_HOSTS: 'gateway.example, b.example' });
    const status = async (host: string) => (await post({ query: '{ __typename }' }, { host })).status;
    expect(await status('gateway.example')).toBe(200);
    expect(await status('B.example:8443')).toBe(200);
    expect(await status('127.0.0.1')).toBe(200);
    expect(await status('other.example')).toBe(421);
  });
});

it('is available under any host name if other machines can reach it, unless names are listed', async () => {
  const open = await tListeningGateway({ HOST: '0.0.0.0' });
  expect((await open.post({ query: '{ __typename }' }, { host: 'gateway.example' })).status).toBe(200);
  const listed = await tListeningGateway({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'gateway.example' });
  expect((await listed.post({ query: '{ __typename }' }, { host: 'other.example' })).status).toBe(421);
});
