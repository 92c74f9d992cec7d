import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createConnector } from '../../../src/gateway/upstream/connector.ts';
import { createCertificate } from '../../support/loopback.ts';

describe.each([['TCP'], ['TLS']])('a socket of the connector over %s', (protocol) => {
  it('passes each chunk on, in order and to its end', async () => {
    const { client, peer } = await tConnection(protocol);
    const received: string[] = [];
    client.on('readable', () => {
      for (let chunk = client.read(); chunk !== null; chunk = client.read()) received.push(String(chunk));
    });
    for (const text of ['first, ', 'second, ']) {
      peer.write(text);
      await vi.waitFor(() => expect(received.join('')).toContain(text), { timeout: 20_000 });
    }
    peer.end('last');
    await once(client, 'end');
    expect(received.join('')).toBe('first, second, last');
  });

  it('does not put chunks into its stream', async () => {
    const { client, peer } = await tConnection(protocol);
    const lengths: number[] = [];
    client.on('readable', () => lengths.push(client.readableLength, client.read()?.length ?? 0));
    peer.write('text');
    await vi.waitFor(() => expect(lengths).toContain(4), { timeout: 20_000 });
    expect(lengths.slice(-2)).toEqual([0, 4]);
  });

  it('keeps what a listener does not read', async () => {
    const { client, peer } = await tConnection(protocol);
    peer.write('unread');
    await vi.waitFor(() => expect(client.readableLength).toBe(6), { timeout: 20_000 });
    const read = once(client, 'data');
    client.resume();
    expect(String((await read)[0])).toBe('unread');
    const next = once(client, 'data');
    peer.write('flowing');
    expect(String((await next)[0])).toBe('flowing');
  });

  it('does not change a chunk when the next is read', async () => {
    const { client, peer } = await tConnection(protocol);
    const chunks: Buffer[] = [];
    client.on('readable', () => chunks.push(client.read() as Buffer));
    for (const text of ['aaaa', 'bbbb']) {
      peer.write(text);
      await vi.waitFor(() => expect(chunks.join('')).toContain(text), { timeout: 20_000 });
    }
    expect(chunks.filter((chunk) => chunk !== null).map(String)).toEqual(['aaaa', 'bbbb']);
  });
});

/** A socket of the connector, and the other end of its connection. */
async function tConnection(protocol: string): Promise<{ client: Socket; peer: Socket }> {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const isTls = protocol === 'TLS';
  const server = isTls ? createTlsServer(await createCertificate()) : createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, isTls ? 'secureConnection' : 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const target = { hostname: '127.0.0.1', servername: 'localhost', port: String(port) };
  const client = await new Promise<Socket>((resolve, reject) => {
    createConnector()({ ...target, protocol: isTls ? 'https:' : 'http:' }, (error, socket) => {
      if (error) reject(error);
      else resolve(socket);
    });
  });
  const [peer] = await accepted;
  onTestFinished(() => {
    vi.unstubAllEnvs();
    client.destroy();
    peer.destroy();
    server.close();
  });
  return { client, peer };
}
