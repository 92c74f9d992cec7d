/** The URL of a file or folder in `dist`, also from `src`. In the build, this code is in a file at the top of `dist`. */
export function builtFile(path: string): URL {
  return new URL(import.meta.url.endsWith('.ts') ? `../dist/${path}` : path, import.meta.url);
}
