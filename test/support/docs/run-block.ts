import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tGateway } from '../gateway.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';
import type { FencedBlock } from './fenced-blocks.ts';

/** Appended to the titles of tests that need curl. */
export const whyNoCurl = spawnSync('curl', ['--version']).error ? ' (SKIPPED: install the package curl)' : '';

/**
 * The output of a block, run as a module or as a shell command, with a new gateway in place of the one at port 4000.
 * Rejects if it fails or prints to stderr.
 */
export async function runBlock({ language, text }: FencedBlock): Promise<string> {
  const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
  const origin = await tGateway({
    bankDataUrl,
    essaysUrl,
    env: { ANONYMOUS_SCOPES: 'bank-data+essays+cost' },
  }).listen();
  const code = text.replaceAll(/(http:\/\/127\.0\.0\.1|\blocalhost):4000/g, origin);
  const [program, ...args] = language === 'js' ? [process.execPath, '--input-type=module', '-'] : ['sh', '-eu'];
  return new Promise((resolve, reject) => {
    const child = execFile(program ?? '', args, { cwd: root, timeout: 30_000 }, (error, stdout, stderr) => {
      if (error || stderr !== '') reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
    child.stdin?.end(code);
  });
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
