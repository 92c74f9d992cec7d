import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config/values.ts';
import type { Redact } from './redact.ts';

export type Log = Logger;

interface LogOptions {
  level: LogLevel;
  redact: Redact;
  destination?: DestinationStream;
}

/**
 * The log of the process: one JSON object per line, by default on standard error. Every complete line is redacted, so
 * that no message, stack trace or upstream response leaks a secret or an IBAN.
 */
export function createLog({ level, redact, destination = process.stderr }: LogOptions): Log {
  return pino({ level, base: null, hooks: { streamWrite: redact } }, destination);
}
