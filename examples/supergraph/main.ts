import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { runMain } from '../../src/run-main.ts';
import { composeSupergraph } from './compose.ts';
import { createPayments } from './payments.ts';
import { createRouter } from './router.ts';
import { type Served, serve } from './serve.ts';

/*
 * `npm run supergraph`: payments, Ledgerquill and a router in front of both. Ledgerquill is a process of its own and
 * reads its environment as ever, upstreams and DATA_DIR included; PORT is the router's.
 */

const query = '{ payees { name validation { valid bankData { name bic } } } }';

await runMain(async () => {
  const { PORT = '4000', PAYMENTS_PORT = '0', LEDGERQUILL_PORT = '0' } = process.env;
  const ledgerquill = startLedgerquill(LEDGERQUILL_PORT);
  const open: Served[] = [];
  const stop = async () => {
    ledgerquill.child.kill('SIGTERM');
    await Promise.all(open.splice(0).map(({ close }) => close()));
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  ledgerquill.child.once('exit', (code) => {
    process.exitCode ||= code ?? 1;
    return stop();
  });

  try {
    const listening = async (served: Promise<Served>) => open[open.push(await served) - 1] as Served;
    const payments = await listening(serve(createPayments(), Number(PAYMENTS_PORT)));
    const ledgerquillUrl = await ledgerquill.url;
    // It has said why.
    if (ledgerquillUrl === null) return await stop();
    const urls = { payments: payments.url, ledgerquill: ledgerquillUrl };
    const router = await listening(serve(createRouter(composeSupergraph(urls)), Number(PORT)));
    process.stdout.write(
      [
        'The supergraph is ready.',
        `  router       ${router.url}`,
        `  payments     ${urls.payments}`,
        `  Ledgerquill  ${urls.ledgerquill}`,
        'Ask it from another shell:',
        `  curl -s ${router.url} -H 'content-type: application/json' -d '${JSON.stringify({ query })}'`,
        '',
      ].join('\n'),
    );
  } catch (error) {
    await stop();
    throw error;
  }
});

/** What `npm start` starts, without the build. */
function startLedgerquill(port: string): { child: ChildProcess; url: Promise<string | null> } {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, url: readUrl(child) };
}

/** Where it listens; null where it ended instead. */
async function readUrl(child: ChildProcess): Promise<string | null> {
  if (child.stdout) {
    for await (const line of createInterface(child.stdout)) {
      const url = line.match(/GraphiQL +(\S+)/)?.[1];
      if (url === undefined) continue;
      // Nobody reads on, yet the rest must go somewhere.
      child.stdout.resume();
      return url;
    }
  }
  return null;
}
