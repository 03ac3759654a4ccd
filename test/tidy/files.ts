// The files that the tidy tests read: sources and pages of the repository, by path from its root.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Folders with files that are installed, built or stored when the project runs. */
const SKIPPED = new Set(['.git', '.next', '.perdure', 'build', 'coverage', 'dist', 'node_modules'])

/** A test of the README uses such a folder for a moment. Next to the other examples it finds their packages. */
const SHORT_LIVED = /^examples\/readme-/

export interface TidyFile {
  /** From the root of the repository, with forward slashes. */
  path: string
  text: string
}

/** Every file below the root with a matching path, in a stable order. */
export function filesLike(pattern: RegExp): TidyFile[] {
  return pathsBelow('')
    .filter(path => pattern.test(path))
    .map(path => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }))
}

/** The paths of every file and every folder of the repository; a folder's has no closing slash. */
export function allPaths(): Set<string> {
  const files = pathsBelow('')
  const paths = new Set(files)
  for (const file of files) {
    for (let slash = file.indexOf('/'); slash !== -1; slash = file.indexOf('/', slash + 1)) {
      paths.add(file.slice(0, slash))
    }
  }
  return paths
}

function pathsBelow(folder: string): string[] {
  return readdirSync(`${ROOT}${folder}`, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name) && !SHORT_LIVED.test(folder + name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => (entry.isDirectory() ? pathsBelow(`${folder}${entry.name}/`) : [`${folder}${entry.name}`]))
}
