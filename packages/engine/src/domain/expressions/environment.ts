// The CEL dialect of triggers, waits and keys (docs/events.md#expressions): the standard functions, arithmetic between
// CEL's integers and the doubles of JSON, and bounds on everything whose work could grow without limit.

import { Environment } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'

/** Maximum number of nodes of an expression's tree. */
export const NODES_MAX = 250
const DEPTH_MAX = 30
const LITERAL_ITEMS_MAX = 100
/** Maximum length of a text that is split or matched, and maximum number of parts of a split. */
const TEXT_CHARS_MAX = 16_384
const PARTS_MAX = 1000
/** The cache of compiled patterns is cleared at this size. */
const PATTERNS_MAX = 1000

/** Standard functions whose work is unbounded, with the bounded function that replaces each when it is compiled. */
export const BOUNDED: Readonly<Record<string, string>> = { matches: 'boundedMatches', split: 'boundedSplit' }

const base = new Environment({
  homogeneousAggregateLiterals: false,
  limits: {
    maxAstNodes: NODES_MAX,
    maxDepth: DEPTH_MAX,
    maxListElements: LITERAL_ITEMS_MAX,
    maxMapEntries: LITERAL_ITEMS_MAX,
    maxCallArguments: 16,
  },
})
  .registerFunction('string.boundedMatches(string): bool', matches)
  .registerFunction('string.boundedSplit(string): list<string>', split)
  .registerVariable('event', 'dyn')

const ARITHMETIC = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
}
/** The same for whole operands of which one would lose digits as a double. */
const EXACT: Partial<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '%': (a, b) => a % b,
}
for (const [operator, compute] of Object.entries(ARITHMETIC)) {
  const exact = EXACT[operator]
  const mixed = (a: number | bigint, b: number | bigint) =>
    exact && isExact(a, b) ? Number(exact(BigInt(a), BigInt(b))) : compute(Number(a), Number(b))
  base.registerOperator(`double ${operator} int: double`, mixed)
  base.registerOperator(`int ${operator} double: double`, mixed)
}
base.registerOperator('double % double: double', ARITHMETIC['%'])

/** Has the variable `event`. */
export const EVENT_ENVIRONMENT = base.clone()
/** Has the variables `event`, the event that began the run, and `async`, the event that arrived. */
export const WAIT_ENVIRONMENT = base.clone().registerVariable('async', 'dyn')

/** Whether both are whole and one is too large for a double. */
function isExact(a: number | bigint, b: number | bigint): boolean {
  return [a, b].every(isWhole) && [a, b].some(n => !Number.isSafeInteger(Number(n)))
}

function isWhole(n: number | bigint): boolean {
  return typeof n === 'bigint' || Number.isInteger(n)
}

const patterns = new Map<string, RE2JS>()

/** Matches in time linear in the text, whatever the pattern. Throws for a pattern that RE2 does not accept. */
export function pattern(source: string): RE2JS {
  let compiled = patterns.get(source)
  if (!compiled) {
    compiled = RE2JS.compile(source)
    if (patterns.size >= PATTERNS_MAX) patterns.clear()
    patterns.set(source, compiled)
  }
  return compiled
}

function matches(text: string, source: string): boolean {
  checkLength(text)
  return pattern(source).matcher(text).find()
}

function split(text: string, separator: string): string[] {
  checkLength(text)
  const parts = text.split(separator, PARTS_MAX + 1)
  if (parts.length > PARTS_MAX) throw new Error(`a split gives more than ${PARTS_MAX} parts`)
  return parts
}

function checkLength(text: string): void {
  if (text.length > TEXT_CHARS_MAX) throw new Error(`a text has more than ${TEXT_CHARS_MAX} characters`)
}
