import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findReleaseProblems, withoutDevelopment, writeReleaseFiles } from './release-files.ts';

/*
 * `npm run release -- 1.2.3`: sets the version, tests, commits and tags. Then it writes the tarball, the chart, the SBOM and
 * their checksums to `release`, and builds the image, all from a clone of the tag. It publishes nothing. With `--dry-run`,
 * everything happens in a clone of the last commit, without tests and image.
 */

const project = fileURLToPath(new URL('..', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, output: { type: 'string', default: 'release' } },
});
const [version = ''] = positionals;
const isDryRun = values['dry-run'];
const output = resolve(project, values.output);
const temporary = mkdtempSync(join(tmpdir(), 'ledgerquill-release-'));
try {
  const problems = findProblems();
  if (problems.length === 0) release();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true });
}

function findProblems(): string[] {
  const { version: current } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
  const problems = findReleaseProblems(current, version, readFileSync(join(project, 'CHANGELOG.md'), 'utf8'));
  if (isDryRun) return problems;
  const branch = git(project, 'branch', '--show-current').trim();
  if (branch !== 'main') problems.push(`The branch must be main, but is ${branch}.`);
  if (git(project, 'status', '--porcelain') !== '') problems.push('Commit or stash your changes first.');
  return problems;
}

function release(): void {
  const folder = isDryRun ? clone() : project;
  npm(folder, 'version', version, '--no-git-tag-version', '--ignore-scripts');
  writeReleaseFiles(folder, version, new Date().toISOString().slice(0, 10));
  if (!isDryRun) {
    try {
      npm(folder, 'run', 'build');
      npm(folder, 'test');
    } catch (error) {
      git(folder, 'reset', '--hard', '--quiet');
      git(folder, 'clean', '--force', '--quiet', 'docs/releases');
      throw error;
    }
  }
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', `chore: release ${version}`);
  git(folder, 'tag', '--annotate', `v${version}`, '--message', `Ledgerquill ${version}`);
  const tagged = isDryRun ? folder : clone();
  writeArtifacts(tagged);
  if (!isDryRun) buildImage(tagged);
  process.stdout.write(git(folder, 'show', '--stat', '--format=%nCommit: %s%nTags: %D%n', 'HEAD'));
  process.stdout.write(isDryRun ? '\nDry run: the project is unchanged.\n' : describeNextSteps());
}

/** Of the last commit, with what was built from it. Its name is the name of the application in the SBOM. */
function clone(): string {
  const copy = join(temporary, 'ledgerquill');
  git(project, 'clone', '--quiet', '--depth=1', `file://${project}`, copy);
  if (existsSync(join(project, 'dist'))) cpSync(join(project, 'dist'), join(copy, 'dist'), { recursive: true });
  return copy;
}

function writeArtifacts(folder: string): void {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const packaging = ['--import', import.meta.resolve('tsx'), join(folder, 'scripts/package.ts'), '--output', output];
  execFileSync(process.execPath, packaging);
  const chart = join(output, `ledgerquill-chart-${version}.tgz`);
  const inChart = 'HEAD:deploy/helm/ledgerquill';
  git(folder, 'archive', '--format=tar.gz', '--prefix=ledgerquill/', `--output=${chart}`, inChart);
  writeFileSync(join(output, `ledgerquill-${version}.cdx.json`), createSbom(folder));
  const sums = readdirSync(output).map((name) => {
    const content = readFileSync(join(output, name));
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(`In ${output}:\n${sums.join('')}`);
}

/**
 * Of the packages of production. `npm sbom --omit=dev` also leaves out those that development tools need as well, so it gets
 * files without these tools. The application is named after the folder.
 */
function createSbom(folder: string): string {
  const copy = join(temporary, 'production', 'ledgerquill');
  mkdirSync(copy, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    writeFileSync(join(copy, name), withoutDevelopment(readFileSync(join(folder, name), 'utf8')));
  return npm(copy, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only');
}

function buildImage(folder: string): void {
  const revision = git(folder, 'rev-parse', 'HEAD').trim();
  const labels = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`];
  // Images in the OCI format have no health check.
  const tools = { docker: [], podman: ['--format=docker'], buildah: ['--format=docker'] };
  // Docker is of no use without its daemon.
  const tool = Object.entries(tools).find(([name]) => spawnSync(name, ['info']).status === 0);
  if (tool === undefined) {
    const command = ['docker build', ...labels, `--tag ledgerquill:${version} .`].join(' ');
    return void process.stdout.write(
      `No image: neither docker, podman nor buildah runs here. Later, at the tag: ${command}\n`,
    );
  }
  const [name, options] = tool;
  const args = ['build', ...options, ...labels, '--tag', `ledgerquill:${version}`, '.'];
  execFileSync(name, args, { cwd: folder, stdio: 'inherit' });
}

function describeNextSteps(): string {
  return `
Not published. Check the commit, then:
  git push --follow-tags
  npm publish release/ledgerquill-${version}.tgz, or attach it with the SBOM and SHA256SUMS to a release
  docker push, after docker tag ledgerquill:${version} with the name of your registry
  helm push release/ledgerquill-chart-${version}.tgz oci://your-registry/charts
`;
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' });
}

function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', [...args, '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 100_000_000,
  });
}
