// The stored form of strings. SQL text ends at a NUL and cannot hold a lone surrogate, but messages, names and ids can. Such
// strings are stored as their JSON text after a mark. Connections convert every string that goes in or comes out.

import type { Row } from './values.ts'

/** Ordinary text does not begin with the mark; text that does is stored after a second mark. */
const MARK = '\u001a'
const MARK_CODE = 0x1a

/** Equal strings have equal stored forms, and different strings have different ones, so keys keep working. */
export function toStored(text: string): string {
  return isPlain(text) ? text : MARK + JSON.stringify(text)
}

export function fromStored(stored: string): string {
  return stored.charCodeAt(0) === MARK_CODE ? (JSON.parse(stored.slice(1)) as string) : stored
}

/** Turns the texts of a row that was read into the strings that they store. */
export function restore(row: Row): void {
  for (let i = 0; i < row.length; i++) {
    const value = row[i]
    if (typeof value === 'string') row[i] = fromStored(value)
  }
}

/** Called for every string of every row: two native scans, 15 ns for a short string. */
function isPlain(text: string): boolean {
  return !text.includes('\0') && isWellFormed(text) && text.charCodeAt(0) !== MARK_CODE
}

/** Node 20 has the method, the ES2023 library types do not. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}
