import { writeSync } from 'node:fs';
import { replaceImport } from '../../../../src/banks/import/replace-import.ts';

/* A child process of tests: imports half of 30,000 banks, prints a line, and waits to be killed. */

function* banks() {
  for (let number = 0; number < 30_000; number++) {
    if (number === 15_000) {
      writeSync(process.stdout.fd, 'half written\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    yield { bankCode: String(10_000_000 + number), name: 'New', zip: '', city: '', bic: '' };
  }
}

const { DATA_DIR = '' } = process.env;
await replaceImport(DATA_DIR, { country: 'DE', source: 'New', date: '2026-11-21', entries: banks() });
