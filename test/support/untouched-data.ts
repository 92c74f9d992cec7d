import { existsSync } from 'node:fs';

const folder = new URL('../../.data', import.meta.url);
const existed = existsSync(folder);

/** After all tests: none of them has used the data folder of the checkout, whose imports would change their results. */
export function teardown(): void {
  if (existed || !existsSync(folder)) return;
  process.stderr.write('A test has created .data: give its processes a DATA_DIR.\n');
  process.exitCode = 1;
}
