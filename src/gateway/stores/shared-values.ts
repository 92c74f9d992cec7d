import { setImmediate } from 'node:timers/promises';
import { ignore } from '../telemetry/events.ts';
import type { SealingKeys } from './sealed-store.ts';
import { checkExpiry, type Expiry } from './store.ts';

/** Values that all gateways share and that may be lost: no counts or conditions. They are sealed like those of the store. */
export interface SharedValues {
  /**
   * The values in the order of the keys; null where there is none, or one that cannot be read. What one turn of the event loop asks
   * for is one command. @throws StoreError
   */
  readMany(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Written soon, with others in one command. A failure is reported, and the value is lost. */
  write(key: string, value: string, options: Expiry): void;
}

/** A value with a name, as it is stored. */
export interface SharedEntry {
  name: string;
  value: string;
  expiresInMs: number;
}

/** The commands of Redis that they need. */
export interface SharedCommands {
  readMany(names: readonly string[]): Promise<readonly (string | null)[]>;
  writeMany(entries: readonly SharedEntry[]): Promise<void>;
}

interface SharedValuesOptions {
  commands: SharedCommands;
  loadKeys: () => SealingKeys;
  /** Whether the store was written with the secret of this gateway: until then, nothing is read or written. */
  isOurs(): boolean;
  /** Reports whether a write succeeds. */
  observeWrite(write: () => Promise<void>): Promise<void>;
}

export function createSharedValues({ commands, loadKeys, isOurs, observeWrite }: SharedValuesOptions) {
  let reading: Reading | null = null;
  let writing: SharedEntry[] = [];
  let timer: NodeJS.Timeout | undefined;

  const values: SharedValues = {
    async readMany(keys) {
      if (!isOurs()) return keys.map(() => null);
      const { names, values } = reading ?? startReading();
      const first = names.length;
      const { hash, unseal } = loadKeys();
      for (const key of keys) names.push(hash(key));
      // Redis executes one command at a time, so it must not be too long.
      if (names.length >= maxNames) reading = null;
      const sealed = await values;
      return keys.map((key, index) => {
        try {
          return unseal(sealed[first + index] ?? null, key);
        } catch {
          return null;
        }
      });
    },
    write(key, value, expiry) {
      if (!isOurs()) return;
      const { hash, seal } = loadKeys();
      writing.push({ name: hash(key), value: seal(value, key), expiresInMs: checkExpiry(expiry) });
      timer ??= setTimeout(() => void flush(), collectMs);
    },
  };
  return { values, flush };

  function startReading(): Reading {
    const names: string[] = [];
    const started = { names, values: readCollected(names) };
    reading = started;
    return started;
  }

  async function readCollected(names: readonly string[]): Promise<readonly (string | null)[]> {
    await setImmediate();
    if (reading?.names === names) reading = null;
    return commands.readMany(names);
  }

  /** Writes what was collected. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const entries = writing;
    writing = [];
    if (entries.length > 0) await observeWrite(() => commands.writeMany(entries)).catch(ignore);
  }
}

/** A command that is collected, and its values. */
interface Reading {
  names: string[];
  values: Promise<readonly (string | null)[]>;
}

const maxNames = 1_000;
/** How long writes are collected for a command. */
const collectMs = 5;
