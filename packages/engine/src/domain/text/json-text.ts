// Finds the parts of a JSON text without parsing it. Payloads are stored, and spliced into invokes, as the text in which they
// came: no digit, key order or escape is lost, and nothing is serialised twice.

/** A string known to be one valid JSON value. */
export type JsonText = string

/** Maximum accepted nesting (docs/errors.md#how-requests-are-checked). */
export const JSON_DEPTH_MAX = 200

export const QUOTE = 34
const BACKSLASH = 92

/**
 * Maximum nesting of arrays and objects in `text`, without recursion. Counts brackets outside strings, so the text does not
 * need to be valid.
 */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) i = endOfString(text, i) - 1
    else if (c === 123 || c === 91) {
      if (++depth > deepest) deepest = depth
    } else if (c === 125 || c === 93) depth--
  }
  return deepest
}

/** Whether `text` is nested deeper than `max`. Skips the count if the text is too short for that. */
export function isDeeperThan(text: string, max: number): boolean {
  return text.length > max && jsonDepth(text) > max
}

/** The raw text of every member of a valid JSON object (of equal keys the last one, as in JSON.parse). */
export function objectMembers(text: JsonText): Map<string, JsonText> {
  const members = new Map<string, JsonText>()
  let i = skipSpace(text, 0) + 1
  for (i = skipSpace(text, i); text.charCodeAt(i) !== 125; ) {
    const keyEnd = endOfString(text, i)
    const key = unquoted(text.slice(i, keyEnd))
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOfValue(text, start)
    members.set(key, text.slice(start, end))
    i = skipSpace(text, end)
    if (text.charCodeAt(i) === 44) i = skipSpace(text, i + 1)
  }
  return members
}

/**
 * The raw text of one member of a valid JSON object; undefined if there is none. Has its own loop instead of calling
 * `objectMembers`: it runs for every frame and answer, which need neither the map nor a call for each member.
 */
export function objectMember(text: JsonText, name: string): JsonText | undefined {
  let found: JsonText | undefined
  let i = skipSpace(text, 0) + 1
  for (i = skipSpace(text, i); text.charCodeAt(i) !== 125; ) {
    const keyEnd = endOfString(text, i)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOfValue(text, start)
    if (isKey(text, i, keyEnd, name)) found = text.slice(start, end)
    i = skipSpace(text, end)
    if (text.charCodeAt(i) === 44) i = skipSpace(text, i + 1)
  }
  return found
}

/** Whether the string from `from` to `end`, quotes included, is `name`. */
function isKey(text: string, from: number, end: number, name: string): boolean {
  if (end - from - 2 === name.length) return text.startsWith(name, from + 1)
  const raw = text.slice(from, end)
  return raw.includes('\\') && JSON.parse(raw) === name
}

/** The raw text of every element of a valid JSON array. */
export function arrayElements(text: JsonText): JsonText[] {
  const elements: JsonText[] = []
  let i = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charCodeAt(i) !== 93) {
    const end = endOfValue(text, i)
    elements.push(text.slice(i, end))
    i = skipSpace(text, end)
    if (text.charCodeAt(i) === 44) i = skipSpace(text, i + 1)
  }
  return elements
}

/** Index of the first character from `from` on that is not whitespace. */
export function skipSpace(text: string, from: number): number {
  let i = from
  while (i < text.length && text.charCodeAt(i) <= 32) i++
  return i
}

/** Index after the closing quote of the string that opens at `from`. */
export function endOfString(text: string, from: number): number {
  for (let i = from + 1; ; ) {
    const quote = text.indexOf('"', i)
    if (quote < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    i = quote + 1
  }
}

/** Index after the value that begins at `from`. */
export function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from)
  if (first === QUOTE) return endOfString(text, from)
  if (first !== 123 && first !== 91) return endOfToken(text, from)
  let depth = 0
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) i = endOfString(text, i) - 1
    else if (c === 123 || c === 91) depth++
    else if ((c === 125 || c === 93) && --depth === 0) return i + 1
  }
  return text.length
}

/** Index after the number, `true`, `false` or `null` that begins at `from`. */
export function endOfToken(text: string, from: number): number {
  let i = from
  while (i < text.length && !isDelimiter(text.charCodeAt(i))) i++
  return i
}

/** The value of a JSON string, given its text with the quotes. */
export function unquoted(text: JsonText): string {
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}

function isDelimiter(c: number): boolean {
  return c === 44 || c === 93 || c === 125 || c <= 32
}
