import { createRequire } from 'node:module';
import { format } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { escapeControls } from './process/terminal.ts';
import type { Redact } from './redact.ts';
import type { LogLevel } from './variables/parsers.ts';

export type Log = Logger;

interface LogOptions {
  level: LogLevel;
  redact: Redact;
  destination?: DestinationStream;
  /** Also gets each line, redacted. */
  onLine?: (line: string) => void;
}

/**
 * The log of the process: one JSON object per line, by default on standard error, or formatted lines if that is a terminal.
 * Every complete line is redacted, so that no message, stack trace or upstream response leaks a secret or an IBAN.
 */
export function createLog({ level, redact, destination = process.stderr, onLine }: LogOptions): Log {
  const isTerminal = destination === process.stderr && process.stderr.isTTY;
  const write = (line: string) => {
    const redacted = redact(line);
    onLine?.(redacted);
    return isTerminal ? escapeLine(redacted) : redacted;
  };
  const streamWrite = isTerminal || onLine ? write : redact;
  return pino({ level, base: null, hooks: { streamWrite } }, isTerminal ? createFormatter() : destination);
}

/** Escapes controls in the texts of a line, which a formatter decodes. */
export function escapeLine(line: string): string {
  const escaped = JSON.parse(line, (_, value) => (typeof value === 'string' ? escapeControls(value) : value));
  return `${JSON.stringify(escaped)}\n`;
}

/** What libraries print, such as lmdb when a commit fails, becomes lines of the log. */
export function logConsole(log: Pick<Log, 'warn'>, console: Pick<Console, 'error' | 'warn'>): void {
  const write = (...values: unknown[]) => log.warn({ text: format(...values) }, 'a library printed a message');
  console.error = write;
  console.warn = write;
}

/** Loaded only for a terminal. Synchronous, so that no line is lost when the process ends. */
function createFormatter(): DestinationStream {
  const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return pretty({ destination: 2, sync: true, ...terminalFormat });
}

/** pino-pretty shows a field `caller` as a source code location, `<anonymous>:`; here it is a caller of the gateway. */
export const terminalFormat: PrettyOptions = {
  singleLine: true,
  translateTime: 'SYS:HH:MM:ss.l',
  ignore: 'caller',
  messageFormat: ({ caller, msg = '' }) => (caller ? `${msg} by ${caller}` : String(msg)),
};
