// Compiles patterns and matches texts with them, in time linear in the text (docs/events.md#expressions). A pattern in an
// expression is compiled with it, and checked at registration. A pattern from an event is bounded more tightly, compiled at the
// expense of the evaluation, and not kept.

import { RE2JS } from 're2js'
import { charge, type Meter, meterUnderWay } from './meter.ts'
import { patternSize } from './pattern-size.ts'

/** Maximum size of the program of a pattern in an expression. */
export const PATTERN_SIZE_MAX = 1000
/** Maximum size of the program of any other pattern, and the maximum length of its text. */
const EVENT_PATTERN_SIZE_MAX = 250
export const EVENT_PATTERN_CHARS_MAX = 200
/** Maximum length of a matched text. */
export const MATCHED_CHARS_MAX = 16_384

/** Memory of the automaton that a pattern builds while it matches; the library's default is 8 MiB. */
export const AUTOMATON_BYTES_MAX = 64 * 1024
/** The cost of a compilation: the minimum, and the cost of each instruction. */
const COMPILATION_COST = 30_000
const INSTRUCTION_COST = 500
/** The maximum cost of one character and one instruction. */
const MATCHED_CHAR_COST = 8

export interface Pattern {
  size: number
  test(text: string): boolean
}

/** The pattern of an expression. Throws with the reason when RE2 does not accept it, or when it is too large. */
export function literalPattern(source: string): Pattern {
  const size = patternSize(source)
  if (size > PATTERN_SIZE_MAX) {
    throw new Error(`is too large: about ${size} instructions, and ${PATTERN_SIZE_MAX} are allowed`)
  }
  return compile(source, size)
}

/** Whether the pattern matches a part of the text. */
export function matches(text: string, pattern: Pattern): boolean {
  if (text.length > MATCHED_CHARS_MAX) throw new Error(`a text has more than ${MATCHED_CHARS_MAX} characters`)
  charge((text.length + 1) * pattern.size * MATCHED_CHAR_COST)
  return pattern.test(text)
}

/** The last pattern from an event, for a loop that matches each element with the same pattern. */
let last: { meter: Meter; source: string; pattern: Pattern } | undefined

/** A pattern that is not in the expression, compiled for the evaluation under way. */
export function eventPattern(source: string): Pattern {
  const meter = meterUnderWay()
  if (last?.meter === meter && last.source === source) return last.pattern
  if (source.length > EVENT_PATTERN_CHARS_MAX) {
    throw new Error(`a computed pattern has more than ${EVENT_PATTERN_CHARS_MAX} characters`)
  }
  const size = patternSize(source)
  if (size > EVENT_PATTERN_SIZE_MAX) {
    throw new Error(`a computed pattern has about ${size} instructions, more than ${EVENT_PATTERN_SIZE_MAX}`)
  }
  charge(COMPILATION_COST + size * INSTRUCTION_COST)
  const pattern = compile(source, size)
  last = { meter, source, pattern }
  return pattern
}

/** The parts of a compiled pattern that bound its automaton: the library has no option for that. */
interface Bounded {
  re2Input: { dfa: { memBudget: number; stateBudget: number } }
}

function compile(source: string, size: number): Pattern {
  const compiled = parsed(source)
  const { dfa } = (compiled as unknown as Bounded).re2Input
  dfa.memBudget = AUTOMATON_BYTES_MAX
  dfa.stateBudget = AUTOMATON_BYTES_MAX
  // The estimate is an upper bound, even for classes with many ranges.
  return { size: Math.max(size, compiled.programSize()), test: text => compiled.test(text) }
}

function parsed(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    throw new Error(`is not RE2: ${(error as Error).message}`, { cause: error })
  }
}
