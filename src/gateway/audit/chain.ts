import { hash } from 'node:crypto';

/** A line of the audit trail, as it is stored. */
export interface AuditLine {
  /** Of its process, from 1. */
  number: number;
  /** In UTC, such as 2026-11-27. */
  day: string;
  /** JSON without a line break. */
  text: string;
}

/** What a line says, besides its number, time and hashes. */
export type AuditFields = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Creates the lines of a process. Each has the hash of the line before (`prev`) and its own (`hash`), which is that of the text before
 * it: a line that is changed, removed or moved is found.
 */
export function createChain(): (fields: AuditFields) => AuditLine {
  let number = 0;
  let prev = '';
  return (fields) => {
    number += 1;
    const at = new Date().toISOString();
    const content = JSON.stringify({ n: number, at, ...fields, prev }).slice(0, -1);
    prev = hash('sha256', content, 'hex');
    return { number, day: at.slice(0, 10), text: `${content},"hash":"${prev}"}` };
  };
}

/** The hash of a line, if it fits the content; null: it was changed, or is incomplete. */
export function findOwnHash(text: string): string | null {
  const [, content = '', own = null] = /^(.*),"hash":"([0-9a-f]{64})"\}$/.exec(text) ?? [];
  return own !== null && hash('sha256', content, 'hex') === own ? own : null;
}
