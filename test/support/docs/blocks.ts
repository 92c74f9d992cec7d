import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';
import { tGateway } from '../gateway.ts';
import { whyMissing } from '../process.ts';
import { tBankDataService, tEssayService } from '../self-hosted.ts';

export interface FencedBlock {
  language: string;
  /** The path after the language, if the block is a file of a project. */
  file: string | null;
  text: string;
  /** Line number of the first line of text. */
  line: number;
  /** The last heading before it. */
  heading: string;
}

/** The fenced code blocks of a Markdown page, in order. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)];
  return [...markdown.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    file: match[2] ?? null,
    text: match[3] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
    heading: headings.findLast(({ index }) => index < match.index)?.[1] ?? '',
  }));
}

/** Appended to the titles of tests that need curl. */
export const whyNoCurl = whyMissing('curl');

/**
 * The output of a block, run as a module until it has printed as much as expected, or as a shell command, with a new gateway in place
 * of the one at port 4000. @param env further variables of the gateway. Rejects if it fails or prints to stderr.
 */
export async function runBlock({ language, text }: FencedBlock, expected = '', env = {}): Promise<string> {
  const [bankDataUrl, essaysUrl] = await Promise.all([tBankDataService(), tEssayService()]);
  const origin = await tGateway({
    bankDataUrl,
    essaysUrl,
    // A caller, so that other credentials are refused.
    env: { ANONYMOUS_SCOPES: 'bank-data+essays', GATEWAY_API_KEYS: `shop:${'0'.repeat(64)}:bank-data`, ...env },
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
