import { UsageError } from '../base/errors.ts';
import { gatewayVariables } from '../gateway/config/variables.ts';

interface StartOptions {
  port?: string;
  host?: string;
}

/** Runs the gateway. The options replace the variables. @throws UsageError if one of them is not valid */
export async function start({ port, host }: StartOptions): Promise<void> {
  override('PORT', port, '--port');
  override('HOST', host, '--host');
  await import('./main.ts');
}

function override(variable: 'PORT' | 'HOST', value: string | undefined, option: string): void {
  if (value === undefined) return;
  const { error } = gatewayVariables[variable].safeParse(value);
  if (error) throw new UsageError(`${option} ${error.issues[0]?.message}, but is ${JSON.stringify(value)}`);
  process.env[variable] = value;
}
