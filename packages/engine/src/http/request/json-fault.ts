// Finds the place where a text stops being JSON: V8's messages name it only for some faults, and differently in each version.
// Called for refused bodies.

export interface JsonFault {
  /** From 1. */
  line: number
  /** In UTF-16 units, from 1. */
  column: number
  /** The text ends where more was expected. */
  isEnd: boolean
}

/** The place of the first fault; undefined if the text is JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  const at = faultAt(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1) as string).length + 1, isEnd: at === text.length }
}

/** The kind of token that comes next. After an opening bracket the closing one is possible too. */
type Expected = 'value' | 'item or end' | 'key' | 'key or end' | 'colon' | 'comma or end'

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const CLOSING = { '{': '}', '[': ']' } as const

/** Walks over the tokens, without recursion. */
function faultAt(text: string): number | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  for (let at = matchEnd(SPACE, text, 0); ; at = matchEnd(SPACE, text, at)) {
    const c = text[at]
    const within = open.at(-1)
    if (expected === 'comma or end' && within === undefined) return c === undefined ? undefined : at
    if (c === undefined) return at
    if (within !== undefined && c === CLOSING[within] && expected.endsWith(' or end')) {
      open.pop()
      expected = 'comma or end'
      at++
    } else if (expected === 'comma or end' || expected === 'colon') {
      if (c !== (expected === 'colon' ? ':' : ',')) return at
      expected = expected === 'comma or end' && within === '{' ? 'key' : 'value'
      at++
    } else if (c === '"') {
      const { end, isClosed } = stringEnd(text, at)
      if (!isClosed) return end
      at = end
      expected = expected.startsWith('key') ? 'colon' : 'comma or end'
    } else if (expected.startsWith('key')) {
      return at
    } else if (c === '{' || c === '[') {
      open.push(c)
      expected = c === '{' ? 'key or end' : 'item or end'
      at++
    } else {
      const end = matchEnd(SCALAR, text, at)
      if (end === at) return at
      at = end
      expected = 'comma or end'
    }
  }
}

/** Returns the end of the string that begins at `from`, or the place of the fault in it. */
function stringEnd(text: string, from: number): { end: number; isClosed: boolean } {
  for (let at = from + 1; at < text.length; ) {
    const c = text[at] as string
    if (c === '"') return { end: at + 1, isClosed: true }
    const end = c === '\\' ? matchEnd(ESCAPE, text, at) : at + 1
    if (end === at || c < ' ') return { end: at, isClosed: false }
    at = end
  }
  return { end: text.length, isClosed: false }
}

/** Returns where the match that begins at `at` ends; `at` itself if there is no match. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
