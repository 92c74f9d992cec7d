import { UsageError } from '../base/errors.ts';
import { print } from '../base/process/terminal.ts';
import { gatewayVariables } from '../gateway/config/variables.ts';

interface StartOptions {
  port?: string;
  host?: string;
  newStore?: true;
}

/** Runs the gateway. The options replace the variables. @throws UsageError if one of them is not valid */
export async function start({ port, host, newStore }: StartOptions): Promise<void> {
  override('PORT', port, '--port');
  override('HOST', host, '--host');
  if (newStore) await replaceStore();
  await import('./main.ts');
}

async function replaceStore(): Promise<void> {
  const { readConfig } = await import('../gateway/config/read-config.ts');
  const { beginNewStore } = await import('./new-store.ts');
  const { store, dataDir } = readConfig(process.env);
  print(`${await beginNewStore(store, dataDir)}\n`);
}

function override(variable: 'PORT' | 'HOST', value: string | undefined, option: string): void {
  if (value === undefined) return;
  const { error } = gatewayVariables[variable].safeParse(value);
  if (error) throw new UsageError(`${option} ${error.issues[0]?.message}, but is ${JSON.stringify(value)}`);
  process.env[variable] = value;
}
