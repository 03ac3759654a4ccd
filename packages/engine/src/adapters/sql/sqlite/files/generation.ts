// The generation of a database: a number in its first page, which an engine raises once between two checkpoints (store-guard.ts).
// A database therefore has the generation of its log, or the previous one, and a different file in its place is noticed. Read
// from the files, without SQLite.

import { closeSync, openSync, readSync } from 'node:fs'

/** The header of a database: its first bytes, and the position of its generation, which SQL calls `user_version`. */
const MAGIC = Buffer.from('SQLite format 3\0')
const GENERATION_AT = 60
const HEADER_BYTES = 64
/** A log: a header, then frames, each a header and a page. Frames of its latest use have the same salts as its header. */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_SIZE_AT = 8
const LOG_SALTS_AT = 16
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

/** Whether a log with the one generation can belong to a database with the other. */
export function belongTogether(inFile: number, inLog: number): boolean {
  return inFile === inLog || inFile === inLog - 1
}

/** Returns undefined if the open file does not begin like a database. */
export function generationOf(handle: number): number | undefined {
  const header = read(handle, 0, HEADER_BYTES)
  return header?.subarray(0, MAGIC.length).equals(MAGIC) ? header.readInt32BE(GENERATION_AT) : undefined
}

/** Throws if the log next to the database was written for another one: SQLite would mix them. Called before a store is opened. */
export function refuseForeignLog(file: string): void {
  const inFile = opened(file, generationOf)
  const inLog = opened(`${file}-wal`, generationInLog)
  if (inFile === undefined || inLog === undefined || belongTogether(inFile, inLog)) return
  throw new Error(
    `${file} is not the database that its log ${file}-wal was written for, so it was replaced after an engine had written to it: ` +
      'put back the database that belongs to the log, or move the log away to continue without its contents',
  )
}

function opened<T>(path: string, use: (handle: number) => T): T | undefined {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    return use(handle)
  } finally {
    closeSync(handle)
  }
}

/** The generation in the newest copy of the first page; undefined if the log has none. */
function generationInLog(handle: number): number | undefined {
  const header = read(handle, 0, LOG_HEADER_BYTES)
  if (!header) return undefined
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT)
  const salts = header.subarray(LOG_SALTS_AT, LOG_SALTS_AT + SALTS_BYTES)
  let generation: number | undefined
  for (let at = LOG_HEADER_BYTES; ; at += frameBytes) {
    const frame = read(handle, at, FRAME_HEADER_BYTES + HEADER_BYTES)
    if (!frame?.subarray(FRAME_SALTS_AT, FRAME_SALTS_AT + SALTS_BYTES).equals(salts)) return generation
    if (frame.readUInt32BE(0) === 1) generation = frame.readInt32BE(FRAME_HEADER_BYTES + GENERATION_AT)
  }
}

function read(handle: number, at: number, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length)
  return readSync(handle, bytes, 0, length, at) === length ? bytes : undefined
}
