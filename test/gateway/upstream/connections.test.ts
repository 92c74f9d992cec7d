import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedactions } from '../../../src/base/redact.ts';
import { Call } from '../../../src/gateway/upstream/call.ts';
import { createConnections } from '../../../src/gateway/upstream/connections.ts';
import type { Outcome, UpstreamRequest } from '../../../src/gateway/upstream/outcome.ts';
import { get, tDeadline } from '../../support/gateway/upstream/send.ts';
import { type Reply, replyJson, replyText, replyTruncated, tUpstream } from '../../support/scripted-upstream.ts';

describe('connections', () => {
  it('uses the one that was used last, so that the others of a burst close', async () => {
    const { send, attempts } = await tConnections();
    await Promise.all(Array.from({ length: 10 }, () => send()));
    expect(attempts()).toBe(10);
    const ports = new Set<unknown>();
    for (let call = 0; call < 20; call += 1) ports.add(((await send()) as { json: { port: number } }).json.port);
    expect(ports.size).toBe(1);
    expect(attempts()).toBe(10);
  });

  it('does not wait for an attempt to connect that a call has given up', async () => {
    const { send, attempts, release, network, sendAndAbort } = await tConnections();
    network.isHeld = true;
    await sendAndAbort();
    network.isHeld = false;
    expect(await send()).toMatchObject({ status: 200 });
    expect(attempts()).toBe(2);
    // Then it is as good as the other one.
    await release();
    await Promise.all([send(), send()]);
    expect(attempts()).toBe(2);
  });

  it('does not wait for the connection that undici opens when a call that was sent is given up', async () => {
    const { send, attempts, network } = await tConnections();
    const arrived = new Promise<ServerResponse>((resolve) => {
      network.reply = resolve;
    });
    const caller = new AbortController();
    // A read would be completed.
    const aborted = send(caller.signal, { ...get, method: 'POST' });
    const response = await arrived;
    network.isHeld = true;
    caller.abort();
    await expect(aborted).rejects.toThrow('aborted');
    await once(response, 'close');
    network.isHeld = false;
    network.reply = null;
    expect(await send()).toMatchObject({ status: 200 });
    expect(attempts()).toBe(2);
  });

  it.each<[string, Reply]>([
    ['was interrupted', replyTruncated('{')],
    ['is too large', replyText(200, 'x'.repeat(2_000))],
  ])('connects again after a response that %s', async (_, reply) => {
    const { send, network } = await tConnections();
    network.reply = reply;
    for (let call = 0; call < 3; call += 1) {
      expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ kind: 'failed' }));
    }
    network.reply = null;
    expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ status: 200 }));
  });

  it('closes one that was opened for another call, unless connections are kept', async () => {
    const { send, attempts, release, ports, network, sendAndAbort } = await tConnections(64, false);
    network.isHeld = true;
    await sendAndAbort();
    await release();
    await Promise.all([send(), send()]);
    await send();
    expect(attempts()).toBe(4);
    expect(ports().size).toBe(3);
  });

  it('has no more than twice as many as calls, and does not connect again for each call that was given up', async () => {
    const { send, attempts, release, calls, network, sendAndAbort } = await tConnections(2);
    network.isHeld = true;
    for (let count = 0; count < 10; count += 1) {
      await sendAndAbort();
    }
    expect(attempts()).toBe(4);
    const next = send();
    await release();
    expect(await next).toMatchObject({ status: 200 });
    expect(attempts()).toBe(4);
    expect(calls()).toBe(1);
  });

  it.each(['ECONNREFUSED', 'ERR_TLS_CERT_ALTNAME_INVALID'])('connects again after %s', async (code) => {
    const { send, network } = await tConnections();
    network.failure = Object.assign(new Error('cannot connect'), { code });
    expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ reason: 'unreachable' }));
    network.failure = null;
    expect(await Promise.all([send(), send(), send()])).toMatchObject(Array(3).fill({ status: 200 }));
  });
});

/** Connections to a service that responds with the client's port, and its network. */
async function tConnections(maxCalls = 64, isKept = true) {
  const ports = new Set<unknown>();
  const network = {
    /** The reply of the service to all calls, if it is another one. */
    reply: null as Reply | null,
    /** Whether attempts to connect are held back. */
    isHeld: false,
    /** The error with which attempts to connect fail. */
    failure: null as Error | null,
  };
  const upstream = await tUpstream((response, call) => {
    const port = response.socket?.remotePort;
    ports.add(port);
    return (network.reply ?? replyJson(200, { port }))(response, call);
  });
  let attempts = 0;
  let held: (() => Promise<unknown>)[] = [];
  const connections = createConnections({
    origin: upstream.url,
    maxCalls,
    isKept,
    connect: ({ port, hostname }, callback) => {
      const open = async () => {
        const socket = connectTcp(Number(port), hostname);
        await once(socket, 'connect');
        callback(null, socket);
      };
      attempts += 1;
      const error = network.failure;
      if (error !== null) queueMicrotask(() => callback(error, null));
      else if (network.isHeld) held.push(open);
      else void open();
    },
  });
  onTestFinished(() => connections.close());
  const send = (signal?: AbortSignal, request: UpstreamRequest = get) =>
    new Promise<Outcome>((resolve, reject) => {
      const connection = connections.take();
      const deadline = tDeadline(signal);
      const call = new Call({
        request,
        deadline,
        maxResponseBytes: 1_000,
        redactSecrets: createRedactions([]).redactSecrets,
        onSending() {},
        onSettled({ progress }, outcome) {
          connections.release(connection, progress);
          if (outcome === null) reject(deadline.reason);
          else resolve(outcome);
        },
      });
      connection.dispatch({ origin: upstream.url, path: '/', method: 'GET' }, call);
    });
  const sendAndAbort = async () => {
    const caller = new AbortController();
    const aborted = send(caller.signal);
    caller.abort();
    await expect(aborted).rejects.toThrow('aborted');
  };
  return {
    send,
    sendAndAbort,
    attempts: () => attempts,
    calls: () => upstream.calls.length,
    ports: () => ports,
    network,
    /** Lets the attempts that are held back connect. */
    release: async () => {
      network.isHeld = false;
      await Promise.all(held.map((open) => open()));
      held = [];
    },
  };
}
