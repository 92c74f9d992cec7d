import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tBrowser, whyNoChromium } from '../../support/browser.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* Pages of other origins in a browser. All host names resolve to this machine. */

describe.skipIf(whyNoChromium)(`a page in a browser${whyNoChromium}`, () => {
  const options = { isCrossOrigin: true, expectedMessage: /./ };
  const visit = tBrowser();

  it.each([
    ['of another site', 'attacker.example', '127.0.0.1'],
    ['of the same site', 'localhost', 'localhost'],
    ['of another site, at a plain-http host name,', 'attacker.example', 'gateway.bank.example'],
    ['of the same site, at a plain-http host name,', 'shop.bank.example', 'gateway.bank.example'],
  ])('%s causes no upstream call, and cannot frame GraphiQL', async (_, pageHost, gatewayHost) => {
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    // The browser reads nothing of a page that it does not show, and the gateway waits for it when it closes.
    const env = { ALLOWED_HOSTS: 'gateway.bank.example', CLIENT_TIMEOUT_MS: '1000' };
    const { origin } = await tListeningGateway(env, upstream);
    const { port, statuses } = await tServer(origin);
    const { page } = await visit(`http://${pageHost}:${(await tServer()).port}/`, options);

    await page.evaluate(causeRequests, `http://${gatewayHost}:${port}/graphql`);

    // Where the browser expects a page, it receives GraphiQL, which executes nothing.
    expect(statuses).toEqual({
      img: 403,
      script: 403,
      video: 403,
      stylesheet: 403,
      prefetch: 200,
      fetch: 403,
      iframe: 200,
    });
    expect(upstream.calls).toHaveLength(0);
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
  });
});

/** A server on all loopback addresses: an empty page, or a proxy that records statuses by operation name. */
async function tServer(target?: string) {
  const statuses: Record<string, number | undefined> = {};
  const server = createServer(({ url = '', headers }, response) => {
    if (target === undefined) return response.setHeader('content-type', 'text/html').end('<!doctype html>');
    request(`${target}${url}`, { headers }, (answer) => {
      statuses[new URL(url, target).searchParams.get('operationName') ?? ''] = answer.statusCode;
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { port: (server.address() as AddressInfo).port, statuses };
}

/** Runs in the page. Each request carries its cause as the name of the operation. */
async function causeRequests(endpoint: string): Promise<void> {
  const query = (name: string) => `query ${name} { ibanValidation(iban: "DE89370400440532013000") { valid } }`;
  const target = (name: string) => `${endpoint}?${new URLSearchParams({ operationName: name, query: query(name) })}`;
  const add = (name: string, attribute: 'src' | 'href', element: HTMLElement) =>
    new Promise<unknown>((resolve) => {
      element.onload = resolve;
      element.onerror = resolve;
      element.setAttribute(attribute, target(name));
      document.body.append(element);
    });
  const link = (rel: string) => Object.assign(document.createElement('link'), { rel });
  await Promise.all([
    add('img', 'src', document.createElement('img')),
    add('script', 'src', document.createElement('script')),
    add('video', 'src', document.createElement('video')),
    add('stylesheet', 'href', link('stylesheet')),
    add('prefetch', 'href', link('prefetch')),
    add('iframe', 'src', document.createElement('iframe')),
    fetch(target('fetch'), { mode: 'no-cors' }),
  ]);
}
