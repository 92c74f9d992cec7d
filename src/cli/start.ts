import cluster from 'node:cluster';
import { gatewayVariables } from '../config/variables.ts';
import { UsageError } from '../errors.ts';
import { print } from '../process/terminal.ts';

interface StartOptions {
  port?: string;
  host?: string;
  workers?: string;
  newStore?: true;
}

/** Runs the gateway. The options replace the variables. @throws UsageError if one of them is not valid */
export async function start({ port, host, workers, newStore }: StartOptions): Promise<void> {
  override('PORT', port, '--port');
  override('HOST', host, '--host');
  override('WORKERS', workers, '--workers');
  if (newStore && cluster.isPrimary) await replaceStore();
  await import('../main.ts');
}

async function replaceStore(): Promise<void> {
  const { readConfig } = await import('../config/read-config.ts');
  const { beginNewStore } = await import('../stores/store-secret.ts');
  const { store, dataDir } = readConfig(process.env);
  print(`${await beginNewStore(store, dataDir)}\n`);
}

function override(variable: 'PORT' | 'HOST' | 'WORKERS', value: string | undefined, option: string): void {
  if (value === undefined) return;
  const { error } = gatewayVariables[variable].safeParse(value);
  if (error) throw new UsageError(`${option} ${error.issues[0]?.message}, but is ${JSON.stringify(value)}`);
  process.env[variable] = value;
}
