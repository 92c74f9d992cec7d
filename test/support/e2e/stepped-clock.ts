import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Preloaded into a process: its clock is ahead by the milliseconds in the file CLOCK_FILE, which a test changes while it runs. Then it
 * writes them to a second file.
 */

const RealDate = Date;
const realNow = Date.now;
const { CLOCK_FILE: file = '' } = process.env;
let ahead = 0;
const read = () => {
  const text = readFileSync(file, 'utf8');
  if (text === String(ahead) || text === '') return;
  ahead = Number(text);
  writeFileSync(`${file}-set`, text);
};
read();
setInterval(read, 10).unref();

const now = () => realNow() + ahead;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, values: []) => (values.length === 0 ? new target(now()) : new target(...values)),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
