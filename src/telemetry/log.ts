import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config/variables.ts';
import type { Redact } from './redact.ts';

export type Log = Logger;

interface LogOptions {
  level: LogLevel;
  redact: Redact;
  destination?: DestinationStream;
}

/**
 * The process's log: one JSON object per line, on standard error unless told otherwise, as standard output is for people.
 * Every finished line goes through `redact`, so that a careless message, a stack trace or an upstream's words cannot
 * carry a secret or an IBAN out.
 */
export function createLog({ level, redact, destination = process.stderr }: LogOptions): Log {
  return pino({ level, base: null, hooks: { streamWrite: redact } }, destination);
}
