import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' });
const isRepository = (() => {
  try {
    return git('rev-parse', 'HEAD') !== '';
  } catch {
    return false;
  }
})();
const whyNoGit = isRepository ? '' : ' (SKIPPED: the project is not a Git repository)';

describe.skipIf(whyNoGit)(`a dry run${whyNoGit}`, () => {
  const [major = 0, minor = 0] = packageJson.version.split('.').map(Number);
  const version = `${major}.${minor + 1}.0`;
  const state = () => git('status', '--porcelain') + git('rev-parse', 'HEAD') + git('tag');
  const read = (name: string) => readFileSync(join(output, name));
  const tar = (option: string, name = '', ...files: string[]) =>
    execFileSync('tar', [option, join(output, name), ...files], { encoding: 'utf8' });
  let output = '';
  let before = '';
  let printed = '';

  beforeAll(async () => {
    before = state();
    output = mkdtempSync(join(tmpdir(), 'ledgerquill-release-test-'));
    const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.com' };
    const args = ['--import', 'tsx', 'scripts/release.ts', version, '--dry-run', '--output', output];
    const env = { ...process.env, ...author, ...committer };
    printed = (await promisify(execFile)(process.execPath, args, { env, encoding: 'utf8' })).stdout;
  });
  afterAll(() => rmSync(output, { recursive: true }));

  it('commits and tags in a copy, and changes nothing', () => {
    expect(printed).toContain(`Commit: chore: release ${version}`);
    expect(printed).toContain(`tag: v${version}`);
    for (const file of ['CHANGELOG.md', 'Chart.yaml', `docs/releases/${version}.graphql`, 'package-lock.json'])
      expect(printed).toContain(file);
    expect(state()).toBe(before);
  });

  it('writes the tarball and the chart of this version, with their checksums', () => {
    const names = [`ledgerquill-${version}.cdx.json`, `ledgerquill-${version}.tgz`, `ledgerquill-chart-${version}.tgz`];
    expect(readdirSync(output).toSorted()).toEqual(['SHA256SUMS', ...names]);
    const sums = names.map((name) => `${createHash('sha256').update(read(name)).digest('hex')}  ${name}\n`);
    expect(read('SHA256SUMS').toString()).toBe(sums.join(''));
    expect(tar('-tzf', names[1]).split('\n')).toContain('package/package.json');
    const files = ['Chart.yaml', 'values.schema.json', 'templates/deployment.yaml'].map(
      (name) => `ledgerquill/${name}`,
    );
    expect(tar('-tzf', names[2]).split('\n')).toEqual(expect.arrayContaining(files));
    expect(tar('-xzOf', names[2], 'ledgerquill/Chart.yaml')).toContain(
      `\nversion: ${version}\nappVersion: ${version}\n`,
    );
  });

  it('lists the packages of production, and no others, in a CycloneDX SBOM', () => {
    const sbom = JSON.parse(read(`ledgerquill-${version}.cdx.json`).toString());
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { type: 'application', name: 'ledgerquill', version } },
    });
    const names = new Set(
      sbom.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl).replace(/^pkg:npm\/|@[^@]+$/g, '')),
    );
    expect(Object.keys(packageJson.dependencies).filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(packageJson.devDependencies).filter((name) => names.has(name) && !isShared(name))).toEqual([]);
  });
});

/** Packages of production depend on it, too. */
function isShared(name: string): boolean {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return packages[`node_modules/${name}`]?.dev !== true;
}
