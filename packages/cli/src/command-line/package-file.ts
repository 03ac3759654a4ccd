// Files of this package that the command reads: its manifest, its template, its cases.

import { existsSync } from 'node:fs'

/** The file or folder at a path below the package's folder, both from the sources and from the bundle. */
export function packageFile(path: string): URL {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder)
  return new URL(path, folder)
}
