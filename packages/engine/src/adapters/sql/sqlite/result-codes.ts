// SQLite's result codes: which errors mean that the store is not available, and after which errors it is unreliable.

import type { Failure } from '../batches/requests.ts'

/** SQLite's primary result codes, with the texts of their errors: some calls of the package report only the text. */
const CODES = {
  BUSY: [5, 'database is locked'],
  LOCKED: [6, 'database table is locked'],
  NOMEM: [7, 'out of memory'],
  READONLY: [8, 'attempt to write a readonly database'],
  IOERR: [10, 'disk I/O error'],
  CORRUPT: [11, 'database disk image is malformed'],
  FULL: [13, 'database or disk is full'],
  CANTOPEN: [14, 'unable to open database file'],
  NOTADB: [26, 'file is not a database'],
} as const

const BY_TEXT: ReadonlyMap<string, number> = new Map(Object.values(CODES).map(([code, text]) => [text, code]))
const UNAVAILABLE: ReadonlySet<number> = new Set(Object.values(CODES).map(([code]) => code))
const BREAKING: ReadonlySet<number> = new Set([CODES.IOERR[0], CODES.CORRUPT[0], CODES.NOTADB[0]])

/** The answer to a request that met the error. */
export function failure(error: unknown): Failure {
  return { failed: messageOf(error), unavailable: UNAVAILABLE.has(codeOf(error)) }
}

/** Whether the database is unreliable after the error. */
export function breaks(error: unknown): boolean {
  return BREAKING.has(codeOf(error))
}

/** Whether another connection has the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === CODES.BUSY[0]
}

function codeOf(error: unknown): number {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' ? code & 0xff : (BY_TEXT.get(messageOf(error)) ?? 0)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
