import { createHook } from 'node:async_hooks';

/* Preloaded into a gateway process: counts the promises that it creates, and answers every message with the count. */

let promises = 0;
createHook({
  init(_asyncId, type) {
    if (type === 'PROMISE') promises += 1;
  },
}).enable();

process.on('message', () => process.send?.(promises));
