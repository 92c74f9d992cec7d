import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../../src/gateway/config/variables.ts';
import { asciiKey, wrongValues } from '../../support/gateway/config/wrong-values.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

function findProblems(env: Environment): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('a wrong value', () => {
  it.each(wrongValues)('$variable of $env is described', ({ env, problem }) => {
    const problems = findProblems(env);
    expect(problems).toEqual([problem]);
    expect(problems.join()).not.toContain('seeded');
  });

  it('is described once, although it has several faults', () => {
    expect(findProblems({ STORE_SECRET: 'a b' })).toEqual([`STORE_SECRET: ${asciiKey}`]);
    const STORE_SECRET_FILE = join(tFolder(), 'secret');
    writeFileSync(STORE_SECRET_FILE, '\n');
    expect(findProblems({ STORE_SECRET_FILE })).toEqual([
      'STORE_SECRET_FILE: the file is empty; it must contain the value of STORE_SECRET',
    ]);
    expect(findProblems({ STORE_SECRET_FILE, STORE_SECRET: 'seeded-secret-of-the-store' })).toEqual([
      'STORE_SECRET_FILE: must not be set together with STORE_SECRET',
    ]);
  });
});

describe('a variable without a row above', () => {
  /** Names and claims; DATA_DIR and other paths are checked by the start. */
  const anyText = /^(DATA_DIR|GATEWAY_API_KEYS_FILE|TRUSTED_DOCUMENTS|OTEL_SERVICE_NAME|JWT_\w+_CLAIM)$/;
  const rows = new Set(wrongValues.map(({ variable }) => variable));
  const others = knownVariables.filter((name) => !rows.has(name));

  it.each(others.filter((name) => anyText.test(name)))('may have any text: %s', (name) => {
    expect(findProblems({ [name]: '\u{1f4a5} !' })).toEqual([]);
  });

  const limited = others.filter((name) => !anyText.test(name));
  it.runIf(limited.length > 0).each(limited)('is described: %s', (name) => {
    const [problem, ...rest] = findProblems({ [name]: '\u{1f4a5} !' });
    expect(problem).toMatch(new RegExp(`^${name}: .*\\bmust `));
    expect(rest).toEqual([]);
  });
});
