import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * The floors of the house. A file imports from its own room or from a lower floor; a room is the longest of these
 * paths that the file's own path begins with.
 */
const floors: Record<string, number> = {
  'main.ts': 7,
  'gateway.ts': 6,
  'server/': 5,
  'graphql/': 4,
  'allowances/': 3,
  'bank-data/': 3,
  'essays/': 3,
  'services/': 3,
  'services/bank-data/': 3,
  'services/essays/': 3,
  'rest/': 2,
  'stores/': 2,
  'bank-lists/': 2,
  'names/': 1,
  'telemetry/': 1,
  'iban/': 1,
  'caller.ts': 0,
  'loopback.ts': 0,
  'calendar-month.ts': 0,
  'shared-work.ts': 0,
  // The ground floor, which everybody stands on, has steps of its own.
  'run-main.ts': 0.2,
  'config.ts': 0.3,
  'service-config.ts': 0.2,
  'variables.ts': 0.1,
  'errors.ts': 0,
};

/** Rooms that may use what stands directly in the room around them. */
const innerRooms: Record<string, string> = { 'services/bank-data/': 'services/', 'services/essays/': 'services/' };

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(sep).join('/'));

function roomOf(file: string): string {
  const rooms = Object.keys(floors).filter((room) => file === room || (room.endsWith('/') && file.startsWith(room)));
  const room = rooms.sort((a, b) => b.length - a.length)[0];
  if (room === undefined) throw new Error(`src/${file} stands in no room; give it one, or give the room a floor`);
  return room;
}

function importsOf(file: string): { target: string; isType: boolean }[] {
  const text = readFileSync(join(src, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s(?<type>type\s)?(?:[^'";]*?\sfrom\s)?'(?<target>[^']+)'/gm);
  const dynamic = text.matchAll(/\bimport\('(?<target>[^']+)'\)/g);
  return [...statements, ...dynamic].map(({ groups }) => ({
    target: groups?.target ?? '',
    isType: groups?.type !== undefined,
  }));
}

function isAllowed(from: string, to: string): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === target || innerRooms[room] === target) return true;
  return (floors[target] ?? 0) < (floors[room] ?? 0);
}

describe('the house', () => {
  it.each(files)('%s imports from its own room or a lower floor', (file) => {
    const climbing = importsOf(file)
      .filter(({ target }) => target.startsWith('.'))
      .map(({ target }) =>
        relative(src, join(src, dirname(file), target))
          .split(sep)
          .join('/'),
      )
      .filter((target) => !isAllowed(file, target));
    expect(climbing).toEqual([]);
  });

  it('notices an import that climbs', () => {
    expect(isAllowed('rest/rest-client.ts', 'graphql/context.ts')).toBe(false);
    expect(isAllowed('bank-data/rest-bank-data.ts', 'essays/essays.ts')).toBe(false);
    expect(isAllowed('essays/rest-essays.ts', 'services/essays/words.ts')).toBe(false);
    expect(isAllowed('graphql/context.ts', 'essays/essays.ts')).toBe(true);
  });

  it.each(files.filter((file) => file.startsWith('iban/')))('%s is pure: it imports no package', (file) => {
    expect(importsOf(file).filter(({ target }) => !target.startsWith('.'))).toEqual([]);
  });

  it('lets nobody but main.ts and the services themselves import a service', () => {
    const users = files.filter((file) => importsOf(file).some(({ target }) => target.includes('services/')));
    expect(users).toEqual(['main.ts']);
  });

  it.each(files)('%s ends its relative imports in .ts', (file) => {
    const relativeImports = importsOf(file).filter(({ target }) => target.startsWith('.'));
    expect(relativeImports.filter(({ target }) => !target.endsWith('.ts'))).toEqual([]);
  });
});
