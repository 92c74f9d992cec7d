import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runMain } from '../../src/run-main.ts';
import { buildPages, type ServedPages, servePages } from './pages.ts';

/*
 * The example pages and a gateway of their own, at one address. PORT is that of the pages; the gateway takes a free one,
 * and everything else from the environment, as `npm start` does. Ends when a signal says so, or when the gateway does.
 */

const outDir = fileURLToPath(new URL('dist', import.meta.url));

await runMain(async () => {
  const port = Number(process.env.PORT || 5173);
  const gateway = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(gateway, 'close').then(([code]) => code as number | null);
  const stop = () => void gateway.kill('SIGTERM');
  process.on('SIGTERM', stop).on('SIGINT', stop);

  let pages: ServedPages | undefined;
  try {
    const [gatewayUrl] = await Promise.all([whereItListens(gateway.stdout, ended), buildPages(outDir)]);
    if (gatewayUrl === null) throw new Error('The gateway did not start.');
    pages = await servePages({ outDir, gatewayUrl, port });
    process.stdout.write(
      [
        'The example pages are ready.',
        `  Apollo Client  ${pages.url}/apollo.html`,
        `  urql           ${pages.url}/urql.html`,
        `  GraphiQL       ${pages.url}/graphql`,
        '',
      ].join('\n'),
    );
  } catch (error) {
    stop();
    throw error;
  }
  process.exitCode = (await ended) ?? 1;
  await pages.close();
});

/** Reads it from the lines that the gateway prints when it is ready; null when it ends before. */
async function whereItListens(stdout: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<string | null> {
  let printed = '';
  const found = new Promise<string>((resolve) => {
    stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const url = /GraphiQL +(\S+)\/graphql\n/.exec(printed)?.[1];
      if (url) resolve(url);
    });
  });
  return Promise.race([found, ended.then(() => null)]);
}
