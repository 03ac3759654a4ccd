// The changelog, made from `changes`: every change that users see adds a file there, and a release collects them.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HEAD = '# Changelog\n'

export interface Entry {
  file: string
  text: string
}

/** The entries in the order of their names. Throws an error that names a file that is no list. */
export function entries(root: string): Entry[] {
  const files = readdirSync(join(root, 'changes')).filter(name => name.endsWith('.md') && name !== 'README.md')
  return files.sort().map(file => {
    const text = readFileSync(join(root, 'changes', file), 'utf8').trim()
    if (!text.startsWith('- ')) throw new Error(`changes/${file} must be a list: its first line begins with "- "`)
    // The changelog is one folder above the entries, and so are the targets of their links.
    return { file, text: text.replaceAll('](../', '](') }
  })
}

/** The section of a version, as it stands in the changelog. */
export function section(version: string, date: string, list: readonly Entry[]): string {
  return `## ${version} (${date})\n\n${list.map(({ text }) => text).join('\n')}\n`
}

/** Adds the section of a version to the changelog, newest first, and removes the entries' files. */
export function writeChangelog(root: string, text: string, list: readonly Entry[]): void {
  const file = join(root, 'CHANGELOG.md')
  const changelog = readFileSync(file, 'utf8')
  if (!changelog.startsWith(HEAD)) throw new Error('CHANGELOG.md must begin with "# Changelog"')
  const newest = changelog.indexOf('\n## ')
  const at = newest < 0 ? changelog.length : newest + 1
  writeFileSync(file, `${changelog.slice(0, at).trimEnd()}\n\n${text}\n${changelog.slice(at)}`.trimEnd().concat('\n'))
  for (const entry of list) rmSync(join(root, 'changes', entry.file))
}
