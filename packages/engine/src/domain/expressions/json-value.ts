// Parses a JSON text for expressions. The value is the same as from JSON.parse, with two exceptions: whole numbers that a
// double cannot represent keep their digits, and members with the name of a built-in property (`constructor`) stay ordinary
// members.

import { endOfString, endOfToken, type JsonText, skipSpace, unquoted } from '../text/json-text.ts'

/** Maximum digits of a whole number with which expressions compute. */
const INT_DIGITS_MAX = 1000

const MANY_DIGITS = /\d{16}/
/** A whole number of 16 digits or more, or a text that looks like one inside a string. */
const LARGE_INT = /(?:^|[[:,\s])-?[1-9]\d{15,}(?![\d.eE"])/
/** Names that the evaluator reads from every object, so a member of that name would confuse it. Also as JSON escapes. */
const OBJECT_MEMBERS = /constructor|__proto__|\\u00[567]/

/**
 * The value of the text. If the text needs one of the exceptions, whole numbers beyond 2^53 - 1 are bigints, which are
 * ints in CEL, and objects are Maps, which have no built-in members.
 */
export function jsonValue(text: JsonText): unknown {
  const isPlain = !OBJECT_MEMBERS.test(text) && !(MANY_DIGITS.test(text) && LARGE_INT.test(text))
  return isPlain ? JSON.parse(text) : new Reader(text).value()
}

/** Reads a valid JSON text from start to end. Its depth was checked when the text arrived. */
class Reader {
  readonly #text: JsonText
  #at = 0

  constructor(text: JsonText) {
    this.#text = text
  }

  value(): unknown {
    switch (this.#peek()) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      default:
        return this.#scalar()
    }
  }

  #object(): Map<string, unknown> {
    const members = new Map<string, unknown>()
    this.#at++
    while (this.#peek() !== '}') {
      const name = this.#string()
      this.#skip(':')
      members.set(name, this.value())
      this.#skip(',')
    }
    this.#at++
    return members
  }

  #array(): unknown[] {
    const elements: unknown[] = []
    this.#at++
    while (this.#peek() !== ']') {
      elements.push(this.value())
      this.#skip(',')
    }
    this.#at++
    return elements
  }

  #string(): string {
    const start = this.#at
    this.#at = endOfString(this.#text, start)
    return unquoted(this.#text.slice(start, this.#at))
  }

  #scalar(): unknown {
    const start = this.#at
    this.#at = endOfToken(this.#text, start)
    const token = this.#text.slice(start, this.#at)
    if (token === 'true' || token === 'false') return token === 'true'
    if (token === 'null') return null
    const value = Number(token)
    if (Number.isSafeInteger(value) || !/^-?\d+$/.test(token)) return value
    // Arithmetic with millions of digits would take seconds. As a text, the number still differs from every other number.
    return token.length > INT_DIGITS_MAX ? token : BigInt(token)
  }

  /** The next character that is not whitespace. */
  #peek(): string | undefined {
    this.#at = skipSpace(this.#text, this.#at)
    return this.#text[this.#at]
  }

  /** Skips the sign, if it comes next, and the whitespace after it. */
  #skip(sign: string): void {
    if (this.#peek() === sign) this.#at++
    this.#peek()
  }
}
