import { execute, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import type { BankDataPort } from '../../../src/gateway/bank-data/bank-data.ts';
import { createContext } from '../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';

const ibans = Array.from({ length: 20 }, (_, index) => `DE${index}`);

/** Loaders in front of a port that records its batches. @param holds whether its look-ups last until the client disconnects */
function tLoaders({ holds = false } = {}) {
  const services = tServices();
  const batches: (readonly string[])[] = [];
  const validateIbans: BankDataPort['validateIbans'] = (list, context) => {
    batches.push(list);
    const { signal } = context;
    if (!holds) return services.bankData.validateIbans(list, context);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const signal = new AbortableSignal();
  const bankData = { ...services.bankData, validateIbans };
  const limits = { ...services.limits, ibans: 100 };
  const context = createContext({ ...services, bankData, limits }, tCaller, signal);
  const { loaders } = context;
  return { signal, context, batches, load: () => ibans.map((iban) => loaders.validateIban(iban, true)) };
}

describe('a batch of look-ups', () => {
  it('is one call of the port, with each IBAN once', async () => {
    const { load, batches } = tLoaders();
    const validations = await Promise.all([...load(), ...load()]);
    expect(validations.map(({ iban }) => iban)).toEqual([...ibans, ...ibans]);
    expect(batches).toEqual([ibans]);
  });

  it('is rejected as a whole when the client has disconnected', async () => {
    const { signal, load } = tLoaders({ holds: true });
    const settled = Promise.allSettled(load());
    await new Promise((resolve) => setImmediate(resolve));
    signal.abort(new Error('disconnected'));
    expect(await settled).toEqual(ibans.map(() => ({ status: 'rejected', reason: new Error('disconnected') })));
  });

  it('has the look-ups of all aliases of a document', async () => {
    const { context, batches } = tLoaders();
    const fields = ibans.map((iban, index) => `a${index}: ibanValidation(iban: "${iban}") { valid }`);
    const { errors } = await execute({ schema, document: parse(`{ ${fields.join(' ')} }`), contextValue: context });
    expect(errors).toBeUndefined();
    expect(batches).toEqual([ibans]);
  });
});
