import { runMain } from '../../src/base/process/run-main.ts';
import { startGateway } from '../start-gateway.ts';
import { composeSupergraph } from './compose.ts';
import { createPayments } from './payments.ts';
import { type Served, serve } from './serve.ts';

/*
 * `npm run supergraph`: payments, Ledgerquill and a router in front of both. Ledgerquill runs as a child process with the
 * usual environment, such as upstreams and DATA_DIR; PORT is the port of the router, by default not the gateway's. With
 * ROUTER_SECRET, the router signs its requests to it.
 */

const query = '{ payees { name validation { valid bankData { name bic } } } }';

await runMain(async () => {
  const { ROUTER_SECRET: secret, PORT = '4010', PAYMENTS_PORT = '0', LEDGERQUILL_PORT = '0' } = process.env;
  const ledgerquill = startGateway({ ...process.env, PORT: LEDGERQUILL_PORT });
  const open: Served[] = [];
  const stop = async () => {
    ledgerquill.stop();
    await Promise.all(open.splice(0).map(({ close }) => close()));
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  ledgerquill.ended.then((code) => {
    process.exitCode ||= code ?? 1;
    return stop();
  });

  try {
    const listening = async (served: Promise<Served>) => open[open.push(await served) - 1] as Served;
    const payments = await listening(serve(createPayments(), Number(PAYMENTS_PORT)));
    const ready = await ledgerquill.ready;
    // The child process has printed why.
    if (ready === null) return await stop();
    // Hive Gateway is large, so it is loaded only now.
    const { createRouter } = await import('./router.ts');
    const urls = { payments: payments.url, ledgerquill: `${ready.url}/graphql` };
    const signed = secret ? { secret, url: urls.ledgerquill } : null;
    const router = await listening(serve(createRouter(composeSupergraph(urls), signed), Number(PORT)));
    process.stdout.write(
      [
        'The supergraph is ready.',
        `  router       ${router.url} (GraphiQL in a browser)`,
        `  payments     ${urls.payments}`,
        `  Ledgerquill  ${urls.ledgerquill}`,
        'Query it from another shell:',
        `  curl -s ${router.url} -H 'content-type: application/json' -d '${JSON.stringify({ query })}'`,
        '',
      ].join('\n'),
    );
  } catch (error) {
    await stop();
    throw error;
  }
});
