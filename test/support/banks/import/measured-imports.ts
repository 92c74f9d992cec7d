import { readFileSync, writeFileSync } from 'node:fs';
import { runImport } from '../../../../src/cli/import-banks.ts';

/*
 * A child process of tests: imports each file that it is asked to, and answers with what the command says, and with the peak of the
 * memory of the process meanwhile, in MiB.
 */

export interface MeasuredImport {
  message: string;
  peakMb: number;
}

let message = '';
process.stderr.write = (text: string | Uint8Array) => {
  message += text;
  return true;
};

process.on('message', async ([country, file]: [string, string]) => {
  message = '';
  globalThis.gc?.();
  // The peak is measured from here on: https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html
  writeFileSync('/proc/self/clear_refs', '5');
  await runImport({ country, file, force: true });
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  process.send?.({ message, peakMb: Number(kb) / 1_024 } satisfies MeasuredImport);
});
