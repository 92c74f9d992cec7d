import { Client } from 'undici';
import * as z from 'zod';
import { isObject, parseJson } from '../../base/parse-json.ts';
import { compactBic, findBicProblems, fullBic } from '../../iban/bic.ts';
import { countryName } from '../../iban/country-name.ts';
import { compactIban, findIbanProblems, parseIban } from '../../iban/iban.ts';
import { type Store, StoreError } from '../stores/store.ts';
import { ignore } from '../telemetry/events.ts';

const purgedValues = z.strictObject({
  iban: z
    .string()
    .transform(compactIban)
    .refine((iban) => findIbanProblems(iban).length === 0, { error: 'must be a valid IBAN; others are never cached' })
    .optional(),
  bic: z
    .string()
    .transform(compactBic)
    .refine((bic) => findBicProblems(bic).length === 0, { error: 'must be a valid BIC; others are never cached' })
    .optional(),
  bankCode: z
    .string()
    .regex(/^[0-9A-Z]{1,30}$/, { error: 'must be a national bank code, such as 37040044' })
    .optional(),
  country: z
    .string()
    .refine((code) => /^[A-Z]{2}$/.test(code) && countryName(code) !== null, {
      error: 'must be an ISO 3166-1 alpha-2 code, such as DE',
    })
    .optional(),
  allLookUps: z.literal(true, { error: 'must be true' }).optional(),
});

export type PurgeKind = keyof z.infer<typeof purgedValues>;

/** The look-ups that are taken back: those with this value. */
export interface PurgedValue {
  kind: PurgeKind;
  value: string;
}

/** Reads `{"bic":"COBADEFFXXX"}`. @returns what is wrong with it, without the value */
export function readPurgedValue(json: string): PurgedValue | string {
  const { data, error } = purgedValues.safeParse(parseJson(json));
  if (error) return error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ');
  const [purged, another] = Object.entries(data) as [PurgeKind, string | true][];
  if (purged === undefined || another !== undefined) return `must have one of ${purgeKinds.join(', ')}`;
  return { kind: purged[0], value: String(purged[1]) };
}

const purgeKinds = Object.keys(purgedValues.shape);

/**
 * Which answers are still good. Each is of an epoch: the version of the data that it comes from, and the last purge before it was looked up.
 * A new version of the data ends the epoch of all answers, a purge that of those that it covers.
 */
export interface Epochs {
  /** Null until the service reports one. */
  version: string | null;
  /** The number of the last purge that this gateway knows; 0: none. It also counts as the time, in milliseconds since 1970. */
  latest: number;
  /** Whether an answer was taken back after its `lastPurge`. */
  covers(key: string, entry: { answer: object; lastPurge: number }): boolean;
}

export const oneEpoch: Epochs = { version: null, latest: 0, covers: () => false };

interface EpochsOptions {
  /** Purges are shared by gateways that share look-ups; null: they are in memory only. */
  store: Pick<Store, 'get' | 'replace'> | null;
  /** How long an answer may be served. */
  keepMs: number;
  /**
   * Of a service of our own, which reports its version, and is asked for it regularly: answers from the cache would not show a change. Null for
   * another one: its answers are paid for, so it must not be able to remove them from the cache.
   */
  url: string | null;
}

export type SharedEpochs = ReturnType<typeof createEpochs>;

/** All gateways read the purges from the store every 200 ms. While it fails, they know the earlier ones. */
export function createEpochs({ store, keepMs, url }: EpochsOptions) {
  /** By kind and value: the number of the last purge. */
  const numbers = new Map<string, number>();
  const listeners: (() => void)[] = [];
  const notify = () => {
    for (const listener of listeners) listener();
  };
  let isLoaded = store === null;
  let lastText: string | null = null;
  let reading: Promise<string | null> | null = null;
  const timer = store && setInterval(() => void read().catch(ignore), pollMs).unref();
  const versions = url === null ? null : followVersion(url, notify);

  const epochs = {
    get version() {
      return versions?.current() ?? null;
    },
    latest: 0,
    covers(key: string, { answer, lastPurge }: { answer: object; lastPurge: number }): boolean {
      const isNewer = (number = 0) => number > lastPurge;
      // A list may lack the bank that was purged.
      if (key.startsWith('banks:')) return [...numbers].some(([name, n]) => !name.startsWith('iban:') && isNewer(n));
      return isNewer(numbers.get(allName)) || namesOf(key, answer).some((name) => isNewer(numbers.get(name)));
    },
    /** Called with the version in each response of the service. */
    report: (version: string) => versions?.report(version),
    /** Resolves once the purges were read: what other gateways have cached is not used before. @throws StoreError */
    async load(): Promise<void> {
      if (!isLoaded) await read();
    },
    purge,
    /** Adds a function that is called after each purge, by whichever gateway, when the version changes, and again some seconds later. */
    onChanged: (listener: () => void) => void listeners.push(listener),
    close() {
      clearInterval(timer ?? undefined);
      versions?.close();
    },
  };
  return epochs;

  /** @returns whether it was purged; false: too many purges are remembered. @throws StoreError */
  async function purge({ kind, value }: PurgedValue): Promise<boolean> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const stored = await read();
      forgetOld();
      const earlier = kind === 'allLookUps' ? [] : [...numbers];
      const next = new Map(earlier).set(`${kind}:${value}`, Math.max(Date.now(), epochs.latest + 1));
      if (next.size > maxValues) return false;
      const text = JSON.stringify(Object.fromEntries(next));
      if (store === null || (await store.replace(storeKey, stored, text, { expiresInMs: keepMs }))) {
        learn(next);
        return true;
      }
    }
    throw new StoreError('other gateways purged at the same time');
  }

  function read(): Promise<string | null> {
    reading ??= readStored().finally(() => {
      reading = null;
    });
    return reading;
  }

  async function readStored(): Promise<string | null> {
    const text = (await store?.get(storeKey)) ?? null;
    if (text !== lastText && text !== null) learn(Object.entries(storedNumbers.parse(parseJson(text))));
    lastText = text;
    isLoaded = true;
    return text;
  }

  /** A number never becomes smaller, also if the store has lost its data. */
  function learn(stored: Iterable<[string, number]>): void {
    const before = epochs.latest;
    for (const [name, number] of stored) {
      if (number > (numbers.get(name) ?? 0)) numbers.set(name, number);
      epochs.latest = Math.max(epochs.latest, number);
    }
    forgetOld();
    if (epochs.latest > before) notify();
  }

  /** No answer is as old as they are, or a later purge covers it, too. */
  function forgetOld(): void {
    const oldest = Math.max(numbers.get(allName) ?? 0, Date.now() - keepMs);
    for (const [name, number] of numbers) if (number < oldest) numbers.delete(name);
  }
}

const storedNumbers = z.record(z.string(), z.number());
const storeKey = 'purges:1';
const allName = 'allLookUps:true';
const pollMs = 200;
const maxAttempts = 10;
/** The list is read five times a second. */
const maxValues = 1_000;

/** The names of all purges that an answer belongs to. The input of an answer without data is in its key. */
function namesOf(key: string, answer: object): string[] {
  const input = key.startsWith('generation:') ? parseJson(key.slice('generation:'.length)) : null;
  const [country, bankCode] = Array.isArray(input) ? input : [];
  return [...namesIn({ countryCode: country, bankCode }), ...namesIn(answer)];
}

function namesIn(value: unknown): string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, content]) => {
    if (typeof content !== 'string') return namesIn(content);
    return namesOfField.get(field)?.(content) ?? [];
  });
}

const namesOfField = new Map<string, (text: string) => string[]>([
  ['iban', (iban) => [`iban:${iban}`, `country:${iban.slice(0, 2)}`, `bankCode:${parseIban(iban)?.bankCode ?? ''}`]],
  // Eight characters name a bank with all of its branches.
  ['bic', (bic) => [`bic:${bic.slice(0, 8)}`, `bic:${fullBic(bic)}`, `country:${bic.slice(4, 6)}`]],
  ['bankCode', (bankCode) => [`bankCode:${bankCode}`]],
  ['countryCode', (code) => [`country:${code}`]],
]);

/** The header in which the self-hosted service reports the version of its bank lists. */
const dataVersionHeader = 'x-bank-data-version';

/** The version that a service reports in its answers, and at its path for it. */
function followVersion(url: string, notify: () => void) {
  const { origin, pathname } = new URL(`${url}/data-version`);
  const client = new Client(origin);
  let current: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Changes of the version in this interval, and in the interval before. */
  let changes = 0;
  let earlierChanges = 0;

  function report(version: string): void {
    if (version.length > maxLength) return;
    timer ??= setInterval(() => void poll(), askMs).unref();
    if (version === current) return;
    if (current !== null) {
      changes += 1;
      // Replicas of the service may have different versions: then each answer would clear the kept replies.
      if (changes <= maxImmediate) notify();
    }
    current = version;
  }

  async function poll(): Promise<void> {
    // Requests that were running at a change may have combined old answers with new ones.
    if (changes + earlierChanges > 0) notify();
    earlierChanges = changes;
    changes = 0;
    try {
      const signal = AbortSignal.timeout(askMs);
      const { statusCode, headers, body } = await client.request({ path: pathname, method: 'GET', signal });
      await body.dump({ limit: maxBodyBytes });
      const version = headers[dataVersionHeader];
      if (timer !== null && statusCode < 300 && typeof version === 'string') report(version);
    } catch {
      // Look-ups report that the service is down.
    }
  }

  return {
    /** Null until the service reports one. */
    current: () => current,
    report,
    close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
      void client.destroy();
    },
  };
}

const askMs = 5_000;
/** Changes of one interval after which listeners are called at once. */
const maxImmediate = 2;
/** It is stored with each answer. */
const maxLength = 200;
const maxBodyBytes = 1_000;
