import { describe, expect, it } from 'vitest';
import { dateChangelog, findReleaseProblems, setChartVersion, unreleasedOf } from '../../scripts/release-files.ts';

const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A.\n\n## [0.1.0] - 2026-11-21\n\n- B.\n';

describe('a release', () => {
  it.each<[string, string, string[]]>([
    ['0.2.0', changelog, []],
    ['0.10.0', changelog, []],
    ['0.1.9', changelog, ['The version must be greater than 0.1.10, but is 0.1.9.']],
    ['0.1.10', changelog, ['The version must be greater than 0.1.10, but is 0.1.10.']],
    ['v0.3', changelog, ['The version must be like 1.2.3, but is v0.3.']],
    ['0.3.0', '## [Unreleased]\n\n## [0.1.0]\n', ['CHANGELOG.md has no changes under [Unreleased].']],
  ])('of %s after 0.1.10 is checked', (version, text, problems) => {
    expect(findReleaseProblems('0.1.10', version, text)).toEqual(problems);
  });

  it('dates the changes that were not released, and begins a new section', () => {
    const dated = dateChangelog(changelog, '0.2.0', '2026-12-01');
    expect(dated).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A.\n');
    expect([unreleasedOf(changelog), unreleasedOf(dated)]).toEqual(['### Added\n\n- A.', '']);
  });

  it('sets both versions of the chart', () => {
    const chart = 'apiVersion: v2\nversion: 0.1.0\nappVersion: 0.1.0\n';
    expect(setChartVersion(chart, '1.0.0')).toBe('apiVersion: v2\nversion: 1.0.0\nappVersion: 1.0.0\n');
  });
});
