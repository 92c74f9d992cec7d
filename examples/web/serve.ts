import { fileURLToPath } from 'node:url';
import { runMain } from '../../src/base/process/run-main.ts';
import { startGateway } from '../start-gateway.ts';
import { buildPages, type ServedPages, servePages } from './pages.ts';

/*
 * `npm run examples`: the example pages and a gateway at one origin. PORT is the port of the pages; the gateway uses a free
 * port and otherwise the usual environment. Stops on SIGTERM or SIGINT, or when the gateway exits.
 */

const slowWriter =
  'The drafter writes at once. To see orders that wait or are written, start with\n' +
  '  ESSAY_WRITER_DELAY=100 ESSAY_ORDERS_RUNNING=1 npm run examples';

const outDir = fileURLToPath(new URL('dist', import.meta.url));

await runMain(async () => {
  const port = Number(process.env.PORT || 5173);
  const gateway = startGateway({ ...process.env, HOST: '127.0.0.1', PORT: '0' });
  process.on('SIGTERM', gateway.stop).on('SIGINT', gateway.stop);

  let pages: ServedPages | undefined;
  try {
    const [ready] = await Promise.all([gateway.ready, buildPages(outDir)]);
    if (ready === null) throw new Error('The gateway did not start.');
    pages = await servePages({ outDir, gatewayUrl: ready.url, isDrafter: ready.isDrafter, port });
    process.stdout.write(
      [
        'The example pages are ready.',
        `  Apollo Client  ${pages.url}/apollo.html`,
        `  urql           ${pages.url}/urql.html`,
        `  GraphiQL       ${pages.url}/graphql`,
        ...(ready.isDrafter && !process.env.ESSAY_WRITER_DELAY ? [slowWriter] : []),
        '',
      ].join('\n'),
    );
  } catch (error) {
    gateway.stop();
    throw error;
  }
  process.exitCode = (await gateway.ended) ?? 1;
  await pages.close();
});
