// Estimates the size of a pattern's program before it is compiled: a repetition copies its content, so a short pattern may
// compile to a program that fills the memory. Reads the pattern once, from start to end.

/** A class of characters by property has hundreds of ranges. */
const PROPERTY_SIZE = 20
const CLASS_MEMBER_SIZE = 0.125
const REPETITION = /\{(\d+)(,(\d*))?\}/y
const CHARACTER_ESCAPE = /x\{[^}]*\}|[pP]\{[^}]*\}|[pP]./y

/** An upper bound of the number of instructions of the pattern's program; classes with many ranges count more. */
export function patternSize(pattern: string): number {
  const groups: number[] = []
  // Every program has a start, a match and an end.
  let size = 3
  let atom = 0
  let at = 0
  const add = (next: number) => {
    size += atom
    atom = next
  }
  while (at < pattern.length) {
    const sign = pattern[at]
    const count = sign === '{' ? repetition(pattern, at) : undefined
    if (count) {
      atom = atom * Math.max(1, count.times) + count.branches
      at += count.length
    } else if (sign === '(') {
      add(2)
      groups.push(size)
      size = 0
      at++
    } else if (sign === ')') {
      add(0)
      atom = size + 2
      size = groups.pop() ?? 0
      at++
    } else if (sign === '*' || sign === '+' || sign === '?') {
      atom += 1
      at++
    } else {
      const read = atomAt(pattern, at)
      add(read.size)
      at += read.length
    }
  }
  return Math.ceil(groups.reduce((sum, outer) => sum + outer, size) + atom)
}

/** The repetition `{n}`, `{n,}` or `{n,m}` at `at`, if there is one: the copies that it makes, and the branches between them. */
function repetition(pattern: string, at: number): { times: number; branches: number; length: number } | undefined {
  REPETITION.lastIndex = at
  const found = REPETITION.exec(pattern)
  if (!found) return undefined
  const [text, least, comma, most] = found
  const { length } = text
  if (comma === undefined) return { times: Number(least), branches: 0, length }
  if (most === '') return { times: Number(least) + 1, branches: 2, length }
  return { times: Number(most), branches: Math.max(0, Number(most) - Number(least)), length }
}

/** A character, an escape or a class. */
function atomAt(pattern: string, at: number): { size: number; length: number } {
  if (pattern[at] === '\\') return escapeAt(pattern, at)
  if (pattern[at] !== '[') return { size: 1, length: 1 }
  let size = 1
  let end = at + 1
  if (pattern[end] === '^') end++
  // A bracket in the first place is a member of the class.
  if (pattern[end] === ']') end++
  while (end < pattern.length && pattern[end] !== ']') {
    if (pattern.startsWith('[:', end)) {
      const close = pattern.indexOf(':]', end)
      if (close > 0) {
        end = close + 2
        size += 1
        continue
      }
    }
    const member = pattern[end] === '\\' ? escapeAt(pattern, end) : { size: CLASS_MEMBER_SIZE, length: 1 }
    size += member.size
    end += member.length
  }
  return { size, length: end + 1 - at }
}

function escapeAt(pattern: string, at: number): { size: number; length: number } {
  const name = pattern[at + 1]
  if (name === 'Q') {
    const end = pattern.indexOf('\\E', at)
    const length = (end < 0 ? pattern.length : end) - at
    return { size: length, length: end < 0 ? length : length + 2 }
  }
  CHARACTER_ESCAPE.lastIndex = at + 1
  const found = CHARACTER_ESCAPE.exec(pattern)
  if (found) return { size: name === 'x' ? 1 : PROPERTY_SIZE, length: found[0].length + 1 }
  return { size: 1, length: 2 }
}
