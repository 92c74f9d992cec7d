import { gatewayVariables } from '../config/variables.ts';
import { UsageError } from '../errors.ts';

interface StartOptions {
  port?: string;
  host?: string;
  workers?: string;
}

/** Runs the gateway. The options replace the variables. @throws UsageError if one of them is not valid */
export async function start({ port, host, workers }: StartOptions): Promise<void> {
  override('PORT', port, '--port');
  override('HOST', host, '--host');
  override('WORKERS', workers, '--workers');
  await import('../main.ts');
}

function override(variable: 'PORT' | 'HOST' | 'WORKERS', value: string | undefined, option: string): void {
  if (value === undefined) return;
  const { error } = gatewayVariables[variable].safeParse(value);
  if (error) throw new UsageError(`${option} ${error.issues[0]?.message}, but is ${JSON.stringify(value)}`);
  process.env[variable] = value;
}
