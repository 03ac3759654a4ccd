// A new directory for every engine, removed at the end, and names that no other test uses.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCleanup } from './cleanup.ts'

/** The path of an engine's database that does not exist yet. */
export function tempStoreFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perdure-test-'))
  onCleanup(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'engine.db')
}

let count = 0

/** `name` with a number. The tests of a file share an engine, so apps and events need unique names. */
export function unique(name: string): string {
  return `${name}-${++count}`
}

/** A name that nothing else on this machine uses, for servers that several test processes share. */
export function uniqueHere(name: string): string {
  return `${unique(name)}-${process.pid}-${randomBytes(3).toString('hex')}`
}
