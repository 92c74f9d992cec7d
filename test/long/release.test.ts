import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  const state = () =>
    [['status', '--porcelain'], ['rev-parse', 'HEAD'], ['tag']].map((args) => git('-C', project, ...args)).join('');
  const read = (name: string) => readFileSync(join(output, name));
  const tar = (option: string, name = '', ...files: string[]) =>
    execFileSync('tar', [option, join(output, name), ...files], { encoding: 'utf8' });
  let folder = '';
  let project = '';
  let output = '';
  let before = '';
  let printed = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledgerquill-release-test-'));
    [project, output] = [join(folder, 'project'), join(folder, 'release')];
    git('clone', '--quiet', '--depth=1', `file://${process.cwd()}`, project);
    symlinkSync(join(process.cwd(), 'node_modules'), join(project, 'node_modules'));
    cpSync('dist', join(project, 'dist'), { recursive: true });
    const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.com' };
    const env = { ...process.env, ...author, ...committer };
    // A change to release: right after a release, the project has none.
    const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
    writeFileSync(
      join(project, 'CHANGELOG.md'),
      changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n- A change.\n'),
    );
    execFileSync('git', ['commit', '--quiet', '--all', '--message', 'docs: a change'], { cwd: project, env });
    before = state();
    const args = ['--import', 'tsx', 'scripts/release.ts', version, '--dry-run', '--output', output];
    printed = (await promisify(execFile)(process.execPath, args, { cwd: project, env, encoding: 'utf8' })).stdout;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

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
