// What expressions see of a JSON text. It is what JSON.parse makes of it, but for two things that CEL must not lose: the
// digits of whole numbers that a double cannot hold, and members that are called as what objects of JavaScript have anyway.

import { endOfString, endOfToken, type JsonText, skipSpace, unquoted } from '../text/json-text.ts'

/** The digits of a whole number that are computed with. */
const INT_DIGITS_MAX = 1000

const MANY_DIGITS = /\d{16}/
/** A whole number of 16 digits and more, or what looks like one inside a string. */
const LARGE_INT = /(?:^|[[:,\s])-?[1-9]\d{15,}(?![\d.eE"])/
/** What the evaluator asks of every object, and takes a member for. Each character may be written as an escape. */
const OBJECT_MEMBERS = /constructor|__proto__|\\u00[567]/

/**
 * The value of the text. Of one that needs it, whole numbers beyond 2^53 - 1 are bigints, which CEL knows as int, and
 * objects are Maps, whose members are theirs alone.
 */
export function jsonValue(text: JsonText): unknown {
  const isPlain = !OBJECT_MEMBERS.test(text) && !(MANY_DIGITS.test(text) && LARGE_INT.test(text))
  return isPlain ? JSON.parse(text) : new Reader(text).value()
}

/** Reads a valid JSON text from start to end. Its depth was checked when it came in. */
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
    // Arithmetic with millions of digits would take seconds. As text it is still told from every other.
    return token.length > INT_DIGITS_MAX ? token : BigInt(token)
  }

  /** The next character that is not space. */
  #peek(): string | undefined {
    this.#at = skipSpace(this.#text, this.#at)
    return this.#text[this.#at]
  }

  /** Over the sign, if it comes next, and to what follows it. */
  #skip(sign: string): void {
    if (this.#peek() === sign) this.#at++
    this.#peek()
  }
}
