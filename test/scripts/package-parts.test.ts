import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { packageParts } from '../../scripts/package-parts.ts';

async function bundle(contents: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    plugins: [packageParts],
    logLevel: 'silent',
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}

describe('the parts of packages', () => {
  it('are all that the bundle contains of a package', async () => {
    const files = (await bundle("import { Client } from 'undici'; console.log(Client);")).join(' ');
    expect(files).toContain('undici/lib/dispatcher/client.js');
    expect(files).not.toMatch(/undici\/lib\/(mock|interceptor|cache|web\/(cookies|websocket))\//);
  });

  it('have the encodings in which files are read', async () => {
    const files = (await bundle("import iconv from 'iconv-lite'; console.log(iconv);")).join(' ');
    expect(files).toContain('iconv-lite/encodings/utf16.js');
    expect(files).not.toContain('iconv-lite/encodings/tables/');
  });

  it('fail the build if another one is imported', async () => {
    const another = "import { MockAgent } from 'undici'; console.log(MockAgent);";
    await expect(bundle(another)).rejects.toThrow('MockAgent');
  });
});
