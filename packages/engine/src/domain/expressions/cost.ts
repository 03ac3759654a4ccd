// The costs of the functions and operators of CEL, as work (meter.ts), by the sizes of the values that they read and write. The
// figures are the worst measured on Node 20, so an evaluation takes at most its time.

import { charge } from './meter.ts'
import { MATCHED_CHARS_MAX } from './pattern.ts'

/** Enumerating the keys of an object collects all of them first. */
const KEY_COST = 30
const CHAR_COST = 0.1
const ELEMENT_COST = 5
/** An element of a joined list. */
const JOINED_COST = 40
/** Maximum number of parts of a split. */
const PARTS_MAX = 1000
/** Maximum length of a text that becomes a duration: parsing takes the cube of its length. */
const DURATION_CHARS_MAX = 64
/** A time in a zone: each call makes a new formatter for the zone. */
const ZONED_COST = 15_000
const ZONE_CHARS_MAX = 64

const TIME_PARTS = 'Date DayOfMonth DayOfWeek DayOfYear FullYear Hours Milliseconds Minutes Month Seconds'.split(' ')

type Values = readonly unknown[]
/** Charges a call with these arguments, the receiver first. May compute the result; if it returns undefined, the library does. */
type Cost = (...args: never[]) => unknown

/** Each function of the environment. An expression that calls a function without an entry is refused at compilation. */
export const FUNCTION_COSTS: Readonly<Record<string, Cost>> = {
  startsWith: (_: unknown, start: unknown) => chargeTexts(CHAR_COST, start),
  endsWith: (_: unknown, end: unknown) => chargeTexts(CHAR_COST, end),
  contains: chargeSearch,
  indexOf: chargeSearch,
  lastIndexOf: (text: unknown, sought: unknown) => charge(lengthOf(text) * (lengthOf(sought) + 1) * 0.15),
  lowerAscii: (text: unknown) => chargeTexts(8, text),
  upperAscii: (text: unknown) => chargeTexts(8, text),
  // Charged where the pattern is known (pattern.ts).
  matches: () => {},
  trim: (text: unknown) => chargeTexts(1, text),
  substring: (text: unknown) => chargeTexts(CHAR_COST, text),
  split: splitText,
  join: (list: unknown, separator: unknown) => chargeJoin(list, separator),
  size: sizeOf,
  bytes: (text: unknown) => chargeTexts(1, text),
  hex: (bytes: unknown) => chargeTexts(1, bytes),
  base64: (bytes: unknown) => chargeTexts(1, bytes),
  json: (bytes: unknown) => chargeTexts(20, bytes),
  at: () => {},
  string: (value: unknown) => {
    if (typeof value === 'bigint') charge(decimalDigits(value) * 5)
    else chargeTexts(8, value)
  },
  int: (value: unknown) => chargeTexts(1, value),
  uint: (value: unknown) => chargeTexts(1, value),
  double: (value: unknown) => chargeTexts(1, value),
  bool: (value: unknown) => chargeTexts(CHAR_COST, value),
  timestamp: () => charge(300),
  duration: (text: unknown) => {
    if (lengthOf(text) > DURATION_CHARS_MAX)
      throw new Error(`the text of a duration has more than ${DURATION_CHARS_MAX} characters`)
    charge(lengthOf(text) ** 3 / 20 + 300)
  },
  dyn: () => {},
  type: () => {},
  has: () => {},
  ...Object.fromEntries(TIME_PARTS.map(part => [`get${part}`, chargeTime])),
}

function chargeTexts(costPerChar: number, ...texts: Values): undefined {
  for (const text of texts) charge(lengthOf(text) * costPerChar)
}

/** Charges a search: it reads a text once, and for a long sought text compares up to half of that at each character. */
function chargeSearch(text: unknown, sought: unknown): undefined {
  const [length, soughtLength] = [lengthOf(text), lengthOf(sought)]
  charge(length * (soughtLength > 200 ? soughtLength * CHAR_COST : soughtLength > 1 ? 0.9 : CHAR_COST))
}

function splitText(text: unknown, separator: unknown, limit?: unknown): string[] | undefined {
  if (typeof text !== 'string' || typeof separator !== 'string') return undefined
  if (text.length > MATCHED_CHARS_MAX) throw new Error(`a text has more than ${MATCHED_CHARS_MAX} characters`)
  charge(text.length * ELEMENT_COST)
  if (limit !== undefined) return undefined
  const parts = text.split(separator, PARTS_MAX + 1)
  if (parts.length > PARTS_MAX) throw new Error(`a split returns more than ${PARTS_MAX} parts`)
  return parts
}

function chargeJoin(list: unknown, separator: unknown): undefined {
  if (!Array.isArray(list)) return
  charge(list.length * (JOINED_COST + lengthOf(separator) * CHAR_COST))
  for (const text of list) charge(lengthOf(text) * 4 * CHAR_COST)
}

/** The size of a text in characters, which the library counts one at a time. */
function sizeOf(value: unknown): bigint | undefined {
  if (typeof value === 'string') {
    charge(value.length * 0.6)
    let pairs = 0
    for (let i = 0; i < value.length - 1; i++) {
      if ((value.charCodeAt(i) & 0xfc00) === 0xd800 && (value.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
        pairs++
        i++
      }
    }
    return BigInt(value.length - pairs)
  }
  chargeKeys(value)
  return undefined
}

function chargeTime(_: unknown, zone?: unknown): undefined {
  if (zone === undefined) return
  if (lengthOf(zone) > ZONE_CHARS_MAX) throw new Error(`a time zone has more than ${ZONE_CHARS_MAX} characters`)
  charge(ZONED_COST)
}

/** Charges a binary operator by its operands. */
export function chargeOperator(operator: string, left: unknown, right: unknown): void {
  switch (operator) {
    case '==':
    case '!=':
      isEqualSoFar(left, right)
      break
    case 'in':
      chargeMembership(left, right)
      break
    case '+':
      if (Array.isArray(left)) charge((left.length + lengthOf(right)) * ELEMENT_COST)
      else charge((lengthOf(left) + lengthOf(right)) * 2 * CHAR_COST)
      break
    case '<':
    case '<=':
    case '>':
    case '>=':
      charge(Math.min(lengthOf(left), lengthOf(right)) * CHAR_COST)
  }
}

/** Charges the enumeration of a map's keys. */
export function chargeKeys(value: unknown): void {
  charge(keyCount(value) * KEY_COST)
}

/** Charges the search of a list, or the look-up in a map. */
function chargeMembership(sought: unknown, within: unknown): void {
  charge(lengthOf(sought) * CHAR_COST)
  if (!Array.isArray(within)) return
  for (const element of within) if (isEqualSoFar(sought, element)) return
}

/** Charges a comparison up to the first difference, where the library also stops. */
function isEqualSoFar(left: unknown, right: unknown): boolean {
  charge(ELEMENT_COST)
  if (typeof left === 'string') {
    if (typeof right !== 'string' || left.length !== right.length) return false
    charge(left.length * CHAR_COST)
    return left === right
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return Object.is(left, right)
  charge(ELEMENT_COST)
  if (left === right) return true
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    return left.every((element, i) => isEqualSoFar(element, right[i]))
  }
  if (!isPlain(left) || !isPlain(right)) {
    charge(Math.min(lengthOf(left), lengthOf(right)))
    return true
  }
  chargeKeys(left)
  chargeKeys(right)
  if (keyCount(left) !== keyCount(right)) return false
  chargeKeys(left)
  const keys: unknown[] = left instanceof Map ? [...left.keys()] : Object.keys(left)
  return keys.every(key => isEqualSoFar(memberOf(left, key), memberOf(right, key)))
}

function memberOf(object: object, key: unknown): unknown {
  return object instanceof Map ? object.get(key) : (object as Record<string, unknown>)[key as string]
}

/** Number of keys of large objects. They are counted once, since counting takes as long as enumerating. */
const keyCounts = new WeakMap<object, number>()
const COUNTED_KEYS_MIN = 100

function keyCount(value: unknown): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0
  if (value instanceof Map) return value.size
  if (ArrayBuffer.isView(value)) return value.byteLength
  const known = keyCounts.get(value)
  if (known !== undefined) return known
  const count = Object.keys(value).length
  if (count >= COUNTED_KEYS_MIN) keyCounts.set(value, count)
  return count
}

function isPlain(object: object): boolean {
  if (object instanceof Map) return true
  const prototype = Object.getPrototypeOf(object)
  return prototype === Object.prototype || prototype === null
}

/** Characters of a text, bytes, or elements of a list; 0 for any other value. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return ArrayBuffer.isView(value) ? value.byteLength : 0
}

/** Approximate number of digits of a whole number; an event may contain a thousand. */
function decimalDigits(value: bigint): number {
  return -(2n ** 63n) <= value && value < 2n ** 63n ? 20 : 1000
}
