import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';
import { tGateway } from '../gateway.ts';
import { whyMissing } from '../installed.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';
import type { FencedBlock } from './fenced-blocks.ts';

/** Appended to the titles of tests that need curl. */
export const whyNoCurl = whyMissing('curl');

/**
 * The output of a block, run as a module until it has printed as much as expected, or as a shell command, with a new gateway in place
 * of the one at port 4000. Rejects if it fails or prints to stderr.
 */
export async function runBlock({ language, text }: FencedBlock, expected = ''): Promise<string> {
  const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
  const origin = await tGateway({
    bankDataUrl,
    essaysUrl,
    // A caller, so that other credentials are refused.
    env: { ANONYMOUS_SCOPES: 'bank-data+essays+cost', GATEWAY_API_KEYS: `shop:${'0'.repeat(64)}:bank-data` },
  }).listen();
  const code = text.replaceAll(/(http:\/\/127\.0\.0\.1|\blocalhost):4000/g, origin);
  if (language === 'js') return runModule(code, expected);
  return new Promise((resolve, reject) => {
    const child = execFile('sh', ['-eu'], { cwd: root, timeout: 200_000 }, (error, stdout, stderr) => {
      if (error || stderr !== '') reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
    child.stdin?.end(code);
  });
}

/** Runs a module in this process, with the packages of this project. @returns what it prints, once it is as long as this text */
export async function runModule(code: string, expected: string): Promise<string> {
  const name = createHash('sha256').update(code).digest('hex').slice(0, 16);
  mkdirSync(`${root}node_modules/.cache/modules`, { recursive: true });
  const path = `${root}node_modules/.cache/modules/${name}.mjs`;
  // A reader copies them to the folder of the module.
  writeFileSync(path, code.replaceAll(/'[.]\/(?=(apollo-cache|graphcache)[.]js')/g, "'../../../clients/"));
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => void lines.push(`${format(...values)}\n`));
  try {
    await import(path);
    await vi.waitUntil(() => lines.join('').length >= expected.length, { interval: 5, timeout: 100_000 });
  } finally {
    log.mockRestore();
  }
  return lines.join('');
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
