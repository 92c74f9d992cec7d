import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { replaceImport } from '../../../../src/banks/import/replace-import.ts';
import { runImport } from '../../../../src/cli/import-banks.ts';

/*
 * A child process of tests, which imports banks. With the argument `half`, it imports half of 30,000 banks, prints a line, and waits to
 * be killed. Otherwise it imports each file that it is asked to, and answers with what the command says, and with the peak of the memory
 * of the process meanwhile, in MiB.
 */

export interface MeasuredImport {
  message: string;
  peakMb: number;
}

if (process.argv[2] === 'half') {
  const { DATA_DIR = '' } = process.env;
  await replaceImport(DATA_DIR, { country: 'DE', source: 'New', date: '2026-11-21', entries: banks() });
} else {
  measureImports();
}

function* banks() {
  for (let number = 0; number < 30_000; number++) {
    if (number === 15_000) {
      writeSync(process.stdout.fd, 'half written\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    yield { bankCode: String(10_000_000 + number), name: 'New', zip: '', city: '', bic: '' };
  }
}

function measureImports(): void {
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
}
