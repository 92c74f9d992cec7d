import { closeSync, existsSync, ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../base/data-folder.ts';
import type { AuditLine } from './chain.ts';

interface AuditFilesOptions {
  folder: string;
  keepDays: number;
  /** Part of the name of each file, so that no two processes write one. */
  process: string;
}

/** One file per process and day. What was appended survives the end of the process, but not a crash of the machine. */
export function createAuditFiles({ folder, keepDays, process }: AuditFilesOptions) {
  let file: { day: string; fd: number; bytes: number } | null = null;

  return {
    /** Appends all lines or none. @throws a file system error */
    append(day: string, lines: readonly AuditLine[]): void {
      if (file?.day !== day) {
        close();
        createFolder(folder);
        file = { day, fd: openSync(join(folder, `${day}.${process}.jsonl`), 'a', 0o600), bytes: 0 };
        deleteBefore(new Date(Date.parse(day) - keepDays * 86_400_000).toISOString().slice(0, 10));
      }
      const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file.fd, bytes, written);
        file.bytes += bytes.length;
      } catch (error) {
        // A full disk may have taken a part of it.
        ftruncateSync(file.fd, file.bytes);
        throw error;
      }
    },
    close,
  };

  function close(): void {
    if (file !== null) closeSync(file.fd);
    file = null;
  }

  function deleteBefore(firstDay: string): void {
    for (const { day, path } of listAuditFiles(folder)) if (day < firstDay) rmSync(path, { force: true });
  }
}

/** The lines of one process and one day. */
export interface AuditFile {
  path: string;
  day: string;
  process: string;
}

/** The files of a folder by process, and by day. */
export function listAuditFiles(folder: string): AuditFile[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = names.flatMap((name) => {
    const [, day, process] = /^(\d{4}-\d\d-\d\d)\.([\w-]+)\.jsonl$/.exec(name) ?? [];
    return day === undefined || process === undefined ? [] : [{ path: join(folder, name), day, process }];
  });
  const keyOf = ({ process, day }: AuditFile) => `${process} ${day}`;
  return files.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export function readLines({ path }: AuditFile): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}
