// Reads JSON without loss. Values are plain, so that code reads the engine's answers as usual; the text of every object and list
// is also kept, and a number that JavaScript cannot represent keeps its text. Views show `sourceOf`.

import { randomId } from './random-id.ts'

/** A number that JavaScript cannot represent to the last digit. */
export class BigNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  toString(): string {
    return this.source
  }

  valueOf(): number {
    return Number(this.source)
  }
}

/** JSON that is sent exactly as it is. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Larger payloads keep only their text: no code looks into them, and reading them would freeze the page. */
const PAYLOAD_CHARS_MAX = 256 * 1024
/** The fields of the engine's answers that contain payloads, and how deep they can be. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'fields', 'input', 'memo', 'payload', 'result'])
const PAYLOAD_DEPTH_MAX = 4

/** Deeper values would exhaust the stack. The engine refuses them too. */
const DEPTH_MAX = 500

const sources = new WeakMap<object, { text: string; start: number; end: number }>()

/** Returns the JSON text of a value that `parse` has read, as it was sent. Other values are written as usual. */
export function sourceOf(value: unknown): string {
  if (value instanceof BigNumber) return value.source
  if (value instanceof RawJson) return value.text
  const source = typeof value === 'object' && value !== null ? sources.get(value) : undefined
  return source ? source.text.slice(source.start, source.end) : stringify(value)
}

/** Writes JSON. Text to send as it is, and values that were read, stay unchanged. */
export function stringify(value: unknown): string {
  const raw: string[] = []
  const mark = `raw:${randomId()}:`
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (!(item instanceof RawJson || item instanceof BigNumber)) return item
    return `${mark}${raw.push(item instanceof RawJson ? item.text : item.source) - 1}`
  })
  if (raw.length === 0) return text
  return text.replace(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, index) => raw[Number(index)] as string)
}

/** Reads JSON. Throws a SyntaxError that names the position. */
export function parse(text: string): unknown {
  return new Reader(text).document()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a text.
const CAREFUL = /[\\\u0000-\u001f]/
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: ReadonlyMap<string, unknown> = new Map([
  ['t', true],
  ['f', false],
  ['n', null],
])

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): unknown {
    const value = this.#value(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#unexpected()
    return value
  }

  #value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new SyntaxError(`JSON is nested deeper than ${DEPTH_MAX} levels`)
    this.#skipSpace()
    const first = this.#text[this.#at]
    if (first === '{' || first === '[') {
      const start = this.#at
      const value = first === '{' ? this.#object(depth) : this.#list(depth)
      sources.set(value, { text: this.#text, start, end: this.#at })
      return value
    }
    if (first === '"') return this.#string()
    return WORDS.has(first ?? '') ? this.#word(WORDS.get(first as string)) : this.#number()
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#at++
    for (let isFirst = true; !this.#takes('}'); isFirst = false) {
      if (!isFirst) this.#expect(',')
      this.#skipSpace()
      const key = this.#string()
      this.#expect(':')
      const value = this.#largePayload(key, depth) ?? this.#value(depth + 1)
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      else object[key] = value
    }
    return object
  }

  /** Returns a large object or list of a payload as its text. */
  #largePayload(key: string, depth: number): RawJson | undefined {
    if (depth > PAYLOAD_DEPTH_MAX || !PAYLOADS.has(key) || this.#text.length - this.#at <= PAYLOAD_CHARS_MAX) return
    this.#skipSpace()
    const start = this.#at
    const end = endOf(this.#text, start)
    if (end === undefined || end - start <= PAYLOAD_CHARS_MAX) return
    this.#at = end
    return new RawJson(this.#text.slice(start, end))
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = []
    this.#at++
    for (let isFirst = true; !this.#takes(']'); isFirst = false) {
      if (!isFirst) this.#expect(',')
      list.push(this.#value(depth + 1))
    }
    return list
  }

  #string(): string {
    const text = this.#text
    if (text[this.#at] !== '"') throw this.#unexpected()
    let end = text.indexOf('"', this.#at + 1)
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    if (end === -1) throw this.#unexpected()
    const quoted = text.slice(this.#at, end + 1)
    // Control characters and escapes need the slower, careful way.
    const value = CAREFUL.test(quoted) ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
    this.#at = end + 1
    return value
  }

  #number(): number | BigNumber {
    NUMBER.lastIndex = this.#at
    const source = NUMBER.exec(this.#text)?.[0]
    if (source === undefined) throw this.#unexpected()
    this.#at += source.length
    const value = Number(source)
    return String(value) === source ? value : isSame(value, source) ? value : new BigNumber(source)
  }

  #word<T>(value: T): T {
    const word = String(value)
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected()
    this.#at += word.length
    return value
  }

  #takes(character: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(character: string): void {
    if (!this.#takes(character)) throw this.#unexpected()
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.#at++
    }
  }

  #unexpected(): SyntaxError {
    const character = this.#text[this.#at]
    if (character === undefined) return new SyntaxError('the JSON ends too early')
    return new SyntaxError(`unexpected ${JSON.stringify(character)} at position ${this.#at} of the JSON`)
  }
}

/** Returns the position after the object or list that begins at `start`; undefined for other values, and if it does not end. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === '"') {
      do at = text.indexOf('"', at + 1)
      while (at !== -1 && isEscaped(text, at))
      if (at === -1) return undefined
    }
    if (depth === 0) return at === start ? undefined : at + 1
  }
  return undefined
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text[quote - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** Whether a number has the value of its text, which may be written differently: `1.0`, `1e3`, `-0.50`. */
function isSame(value: number, source: string): boolean {
  return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(source)
}

/** Returns significant digits and exponent, the same for every way to write one number. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return `${sign}0`
  return `${sign}${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`
}
