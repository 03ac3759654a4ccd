// Arrays as parameters of a statement, in the binary form of PostgreSQL. It costs a fraction of the text form, which quotes every
// value.

import { toStored } from '../../description/stored-text.ts'
import type { Value } from '../../description/values.ts'

const TEXT = 25
const INTEGER = 23
/** Number of dimensions, whether there are NULLs, type, number of elements, index of the first element. */
const HEADER_BYTES = 20
/** Up to this length a string is copied character by character while its characters are ASCII, which is quicker than a call. */
const SHORT_CHARS_MAX = 48
/** Bytes of the longest character of UTF-8 for each unit of a string. */
const BYTES_PER_CHAR_MAX = 3
const BYTES_AT_FIRST = 16 * 1024

/** The units as one array of texts, each preceded by its length. */
export function textsOf(units: readonly (readonly Value[])[]): Buffer {
  const array = new Texts()
  for (const unit of units) {
    array.push(unit.length)
    for (const value of unit) array.push(value)
  }
  return array.end()
}

export function integersOf(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + values.length * 8)
  writeHeader(bytes, INTEGER, values.length)
  let at = HEADER_BYTES
  for (const value of values) {
    at = bytes.writeInt32BE(4, at)
    at = bytes.writeInt32BE(value, at)
  }
  return bytes
}

class Texts {
  #bytes = Buffer.allocUnsafe(BYTES_AT_FIRST)
  #at = HEADER_BYTES
  #count = 0

  push(value: Value): void {
    this.#count++
    if (value === null) {
      this.#makeRoom(4)
      this.#at = this.#bytes.writeInt32BE(-1, this.#at)
      return
    }
    const text = typeof value === 'string' ? toStored(value) : String(value)
    this.#makeRoom(4 + text.length * BYTES_PER_CHAR_MAX)
    const from = this.#at + 4
    const length = writeAscii(this.#bytes, text, from) ?? this.#bytes.write(text, from)
    this.#bytes.writeInt32BE(length, this.#at)
    this.#at = from + length
  }

  end(): Buffer {
    writeHeader(this.#bytes, TEXT, this.#count)
    return this.#bytes.subarray(0, this.#at)
  }

  #makeRoom(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

/** Writes a short text of ASCII characters and returns its length; undefined for any other text. */
function writeAscii(to: Buffer, text: string, from: number): number | undefined {
  const { length } = text
  if (length > SHORT_CHARS_MAX) return undefined
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return undefined
    to[from + i] = code
  }
  return length
}

/** In PostgreSQL an array without elements has no dimension; an array of length 0 is read as one without elements. */
function writeHeader(to: Buffer, type: number, count: number): void {
  to.writeInt32BE(1, 0)
  to.writeInt32BE(1, 4)
  to.writeInt32BE(type, 8)
  to.writeInt32BE(count, 12)
  to.writeInt32BE(1, 16)
}
