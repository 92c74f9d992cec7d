import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config.ts';
import { redactIbans } from '../iban/redact-ibans.ts';

export type Log = Logger;

interface LogOptions {
  level: LogLevel;
  /** Values that must never be written, whatever line they would be part of. */
  secrets: readonly string[];
  destination?: DestinationStream;
}

/**
 * The process's log: one JSON object per line, on standard output unless told otherwise.
 * Every finished line is searched for the secrets and for anything that reads like an IBAN, so that a careless
 * message, a stack trace or an upstream's words cannot carry one out.
 */
export function createLog({ level, secrets, destination }: LogOptions): Log {
  const hidden = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]).filter(Boolean);
  const redact = (line: string) =>
    redactIbans(hidden.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line));
  const options = { level, base: undefined, hooks: { streamWrite: redact } };
  return destination ? pino(options, destination) : pino(options);
}
