import { redactIbans } from '../iban/redact-ibans.ts';

export type Redact = (text: string) => string;

/** Takes the given secrets, also as JSON would escape them, and everything that reads like an IBAN out of a text. */
export function createRedact(secrets: readonly string[]): Redact {
  const hidden = secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret !== '');
  return (text) => redactIbans(hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text));
}
