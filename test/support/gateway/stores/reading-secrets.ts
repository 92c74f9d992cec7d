import { join } from 'node:path';
import { readOrCreateSecret } from '../../../../src/gateway/stores/sealed-store.ts';

/* Run as a process: prints the secrets of 500 folders in FOLDER, which other processes create at the same time. */

for (let number = 0; number < 500; number++) {
  process.stdout.write(`${readOrCreateSecret(join(process.env.FOLDER ?? '', String(number)))}\n`);
}
