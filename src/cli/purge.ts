import { text } from 'node:stream/consumers';
import { errorCodeOf, UsageError } from '../base/errors.ts';
import { readProperty } from '../base/parse-json.ts';
import { print } from '../base/process/terminal.ts';
import { inFiles, secret } from '../base/variables/parsers.ts';
import { readVariables } from '../base/variables/read-variables.ts';
import type { PurgeKind } from '../gateway/bank-data/epochs.ts';

const purgeVariables = {
  OPERATOR_KEY: secret({ description: 'it must be that of the gateway' }).register(inFiles),
};

interface PurgeOptions extends Partial<Record<PurgeKind, string | true>> {
  gateway: string;
  dotenv?: string;
}

/**
 * Takes back cached look-ups of all gateways that share a store, through the metrics server of one of them.
 * @throws UsageError if the gateway did not purge them; ConfigError without its key
 */
export async function purge({ gateway, dotenv: _, ...values }: PurgeOptions): Promise<void> {
  const { OPERATOR_KEY: key } = readVariables(purgeVariables, process.env);
  if (!URL.canParse(gateway) || !/^https?:/.test(gateway)) {
    throw new UsageError(
      `--gateway must be the http:// or https:// URL of METRICS_PORT, but is ${JSON.stringify(gateway)}`,
    );
  }
  const url = new URL('/purge', gateway);
  // An argument is visible to other users of the machine.
  if (values.iban === '-') values.iban = (await text(process.stdin)).trim();
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(values),
  }).catch((error: unknown) => {
    const code = errorCodeOf(readProperty(error, 'cause') ?? error) ?? 'no response';
    throw new UsageError(`the gateway at ${url.origin} cannot be reached: ${code}`);
  });
  const message = (await response.text()).trim();
  if (response.ok) return print(`${message}\n`);
  if (response.status === 404)
    throw new UsageError('--gateway must be the URL of METRICS_PORT, and the gateway needs OPERATOR_KEY');
  throw new UsageError(message);
}
