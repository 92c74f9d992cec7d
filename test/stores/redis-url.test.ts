import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { tRedisStore } from './redis-client.ts';

describe('the URL of Redis', () => {
  it('begins a TLS connection where it says rediss', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = address && typeof address === 'object' ? address.port : 0;
    const firstByte = new Promise<number | undefined>((resolve) => {
      server.once('connection', (socket) => {
        socket.once('data', (bytes) => {
          resolve(bytes[0]);
          socket.destroy();
        });
      });
    });
    tRedisStore(`rediss://:secret@127.0.0.1:${port}`);
    // RFC 8446, 5.1: a record of type handshake.
    expect(await firstByte).toBe(22);
  });

  it.each([
    'localhost:6379',
    'http://localhost:6379',
    'redis://',
    'redis://:secret@host:99999',
    'redis://:secret@host/database',
    'redis://:secret@host?commandTimeout=0',
    'redis://:%zzsecret@host',
    'not a secret URL',
  ])('is refused where it is none: %s', (url) => {
    const start = () => tRedisStore(url);
    expect(start).toThrow(ConfigError);
    expect(start).toThrow('REDIS_URL: ');
    expect(start).not.toThrow(/secret/);
  });
});
