// The changelog: every change that users see is a line of its section `Next`. A release turns that into the section of a version.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const NEXT = '## Next\n'

/** Returns the lines of the next version. Throws if the changelog has no section for them. */
export function nextChanges(root: string): string {
  const changelog = read(root)
  const after = changelog.slice(startOf(changelog) + NEXT.length)
  const end = after.indexOf('\n## ')
  return (end < 0 ? after : after.slice(0, end)).trim()
}

/** Gives the lines of the next version its number and date, and adds an empty section for the version after it. */
export function writeChangelog(root: string, version: string, date: string): void {
  const changelog = read(root)
  const at = startOf(changelog) + NEXT.length
  writeFileSync(
    join(root, 'CHANGELOG.md'),
    `${changelog.slice(0, at)}\n## ${version} (${date})\n${changelog.slice(at)}`,
  )
}

function read(root: string): string {
  return readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
}

function startOf(changelog: string): number {
  const at = changelog.indexOf(`\n${NEXT}`)
  if (at < 0) throw new Error('CHANGELOG.md has no section "## Next"')
  return at + 1
}
