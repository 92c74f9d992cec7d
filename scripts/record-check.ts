import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * `npm run record-check`: runs `ledgerquill check` on a small file in a shell, and draws the terminal as docs/check-files.svg. A test
 * fails when the picture and the command differ.
 */

export const recordingFile = new URL('../docs/check-files.svg', import.meta.url);

const payees = new URL('../examples/payees.csv', import.meta.url);

const commands = [
  'cat payees.csv',
  'ledgerquill check payees.csv --output checked.csv',
  'echo $?',
  'cut -d, -f1,4-6 checked.csv',
];

export interface Step {
  command: string;
  /** What the shell shows, without the last line end. */
  output: string;
}

/** Runs the commands in a shell, in a folder with the sample file; the service is the embedded one. */
export function recordSession(): Step[] {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerquill-recording-'));
  try {
    copyFileSync(payees, join(folder, 'payees.csv'));
    const command = fileURLToPath(new URL('../dist/cli/ledgerquill.js', import.meta.url));
    const { PATH = '', HOME = '' } = process.env;
    const script = [
      `ledgerquill() { '${process.execPath}' '${command}' "$@"; }`,
      'exec 2>&1',
      ...commands.flatMap((each) => [each, `code=$?; echo '${separator}'; (exit $code)`]),
    ].join('\n');
    const env = { PATH, HOME, DATA_DIR: join(folder, 'data'), ENV_FILE: '' };
    const { stdout, error } = spawnSync('sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' });
    if (error) throw error;
    const outputs = stdout.split(`${separator}\n`);
    return commands.map((each, index) => ({ command: each, output: (outputs[index] ?? '').trimEnd() }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const separator = '-- next command --';

/** In pixels, with the letters of most monospace fonts at this size. */
const letter = 8.4;
const line = 20;
const margin = 20;
const bar = 34;

/** The session as text in an SVG, with the colours of the theme of the reader. */
export function drawSession(steps: readonly Step[]): string {
  const lines = steps.flatMap(({ command, output }, index) => [
    ...(index === 0 ? [] : [{ text: '', kind: null }]),
    { text: `$ ${command}`, kind: 'command' },
    ...output.split('\n').map((text) => ({ text, kind: kindOf(text) })),
  ]);
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * letter + 2 * margin);
  const height = bar + lines.length * line + margin;
  const texts = lines.flatMap(({ text, kind }, index) => {
    if (text === '') return [];
    const y = bar + margin / 2 + index * line + 5;
    return [`  <text${kind === null ? '' : ` class="${kind}"`} x="${margin}" y="${y}">${escapeXml(text)}</text>`];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
  <title id="title">A terminal session of ledgerquill check</title>
  <desc id="desc">${escapeXml(describe(steps))}</desc>
  <style>
    text { font: 14px ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #1d282c; white-space: pre }
    .back { fill: #fffefa; stroke: #ddd6c8 }
    .dot { fill: #d0c8b8 }
    .command { fill: #0f5257; font-weight: 700 }
    .good { fill: #1d6b3f }
    .bad { fill: #a02f22 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e9e6 }
      .back { fill: #12181a; stroke: #303b3f }
      .dot { fill: #4a565a }
      .command { fill: #8ccfcb }
      .good { fill: #8fd6a8 }
      .bad { fill: #ffb0a1 }
    }
  </style>
  <rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" />
${[0, 1, 2].map((dot) => `  <circle class="dot" cx="${margin + dot * 18}" cy="18" r="5.5" />`).join('\n')}
${texts.join('\n')}
</svg>
`;
}

function kindOf(text: string): 'good' | 'bad' | null {
  if (/\(error\)|,INVALID,|not valid$/.test(text)) return 'bad';
  return /^ +\d+ {2}valid$|,VALID,,/.test(text) ? 'good' : null;
}

function describe(steps: readonly Step[]): string {
  return `Commands and what they print. ${steps.map(({ command, output }) => `${command}: ${output.replaceAll(/\s+/g, ' ')}`).join(' ')}`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(recordingFile, drawSession(recordSession()));
