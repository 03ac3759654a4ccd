// Compiles and evaluates CEL expressions (docs/events.md#expressions). Length, tree size, nesting and work are bounded, so
// no expression can run for long. An evaluation that fails returns its error.

import { EXPRESSION_CHARS_MAX } from '@perdure/protocol'
import { FUNCTION_COSTS } from './cost.ts'
import { EVENT_ENVIRONMENT, NODES_MAX, WAIT_ENVIRONMENT } from './environment.ts'
import { type Evaluated, takeTurn } from './evaluations.ts'
import { hintFor } from './hints.ts'
import { addWork, charge, Meter, metered } from './meter.ts'
import { meterCall, meterComprehension, meterMap, meterOperator, type Node } from './metering.ts'
import { AUTOMATON_BYTES_MAX, literalPattern, type Pattern } from './pattern.ts'

/** The use of an expression, which decides its type: a condition, the key of a policy, a number or an attribute. */
export type Purpose = 'condition' | 'key' | 'number' | 'attribute'

export interface Subject {
  name: string
  id?: string
  data?: unknown
}

/** The variables of an expression: the event, and in a wait also `async`, the event that arrived. */
export interface Scope {
  event: Subject
  async?: Subject
}

/**
 * States why an expression does not compile, and where: `position` counts characters from 0. The hint shows how CEL writes it.
 */
export class ExpressionError extends Error {
  override name = 'ExpressionError'
  readonly position: number

  constructor(message: string, position: number, hint?: string) {
    super(`${message} (at character ${position + 1})${hint === undefined ? '' : `; ${hint}`}`)
    this.position = position
  }
}

/** Maximum nesting of comprehensions: each level multiplies the work. */
const NESTING_MAX = 2
const SCALARS = new Set(['string', 'boolean', 'number', 'bigint'])
const COMPREHENSIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind'])

const SCALAR_RESULT = {
  types: ['string', 'int', 'uint', 'double', 'bool', 'null', 'dyn'],
  expected: 'a string, number, bool or null',
} as const

/** The types that CEL may derive for the result, and their names in errors. */
const RESULTS: Record<Purpose, { types: readonly string[]; expected: string }> = {
  condition: { types: ['bool', 'dyn'], expected: 'a bool' },
  key: SCALAR_RESULT,
  attribute: SCALAR_RESULT,
  number: { types: ['int', 'uint', 'double', 'dyn'], expected: 'a number' },
}

type Compiled = ReturnType<typeof EVENT_ENVIRONMENT.parse>

export class Expression {
  readonly source: string
  readonly #run: Compiled
  /** Approximate memory of the compiled expression, in bytes. */
  readonly bytes: number

  /** Throws ExpressionError. `inWait` allows the variable `async`. */
  constructor(source: string, purpose: Purpose, { inWait = false }: { inWait?: boolean } = {}) {
    this.source = source
    if (source.length > EXPRESSION_CHARS_MAX) {
      throw new ExpressionError(`must not have more than ${EXPRESSION_CHARS_MAX} characters`, EXPRESSION_CHARS_MAX)
    }
    this.#run = compile(source, inWait)
    const shape: Shape = { nodes: 0, patterns: 0, metered: [] }
    readTree(this.#run.ast as unknown as Node, shape, 0)
    const nodes = Math.min(Math.max(1, shape.nodes), NODES_MAX)
    this.bytes = nodes * NODE_BYTES + shape.patterns * (AUTOMATON_BYTES_MAX + PATTERN_BYTES)
    checkType(this.#run, source, { purpose, inWait })
    // The type check has refused names that are no functions, so only the engine does not know this function.
    if (shape.unpriced)
      throw new ExpressionError(`calls ${shape.unpriced.name}, which the engine does not support`, shape.unpriced.at)
    for (const meter of shape.metered) meter()
  }

  /** Whether the condition holds. */
  holds(scope: Scope, meter = new Meter()): Evaluated<boolean> {
    const result = this.#evaluate(scope, meter)
    if (!result.ok || typeof result.value === 'boolean') return result as Evaluated<boolean>
    return { ok: false, error: `the condition evaluates to ${nameOf(result.value)}, not a bool` }
  }

  /** The key as a text: a string unchanged, any other scalar as JSON; null for null. */
  key(scope: Scope, meter = new Meter()): Evaluated<string | null> {
    const result = this.#evaluate(scope, meter)
    if (!result.ok) return result
    const { value } = result
    if (value === null) return { ok: true, value }
    if (SCALARS.has(typeof value)) return { ok: true, value: String(value) }
    return { ok: false, error: `the key evaluates to ${nameOf(value)}, not a string, number, bool or null` }
  }

  /** A string, a number or a boolean; null for null. An integer beyond the safe range becomes a text. */
  attribute(scope: Scope, meter = new Meter()): Evaluated<string | number | boolean | null> {
    const result = this.#evaluate(scope, meter)
    if (!result.ok) return result
    const { value } = result
    const isSafe = typeof value === 'bigint' && Number.isSafeInteger(Number(value))
    const scalar = typeof value === 'bigint' ? (isSafe ? Number(value) : String(value)) : value
    if (scalar === null || typeof scalar === 'string' || typeof scalar === 'boolean') return { ok: true, value: scalar }
    if (typeof scalar === 'number' && Number.isFinite(scalar)) return { ok: true, value: scalar }
    return { ok: false, error: `the attribute evaluates to ${nameOf(value)}, not a string, number, bool or null` }
  }

  number(scope: Scope, meter = new Meter()): Evaluated<number> {
    const result = this.#evaluate(scope, meter)
    if (!result.ok) return result
    const number = typeof result.value === 'bigint' ? Number(result.value) : result.value
    if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number }
    return { ok: false, error: `the expression evaluates to ${nameOf(result.value)}, not a number` }
  }

  #evaluate(scope: Scope, meter: Meter): Evaluated<unknown> {
    try {
      const value: unknown = metered(meter, () => {
        const result: unknown = this.#run(scope)
        // A long key is replaced by its digest.
        if (typeof result === 'string') charge(result.length)
        return result
      })
      return { ok: true, value }
    } catch (error) {
      return { ok: false, error: withoutValue(reasonOf(error), this.source) }
    }
  }
}

/** Errors that end with types or with the problem, not with a value. */
const NAMES_TYPES = /^no such overload|type error|index out of bounds/i

/**
 * The reason without the value that some errors end with: reasons are stored with events, and stay when a payload is erased. A
 * name in the expression is no value.
 */
function withoutValue(reason: string, source: string): string {
  const at = reason.indexOf(': ')
  if (at === -1 || NAMES_TYPES.test(reason) || source.includes(reason.slice(at + 2))) return reason
  return reason.slice(0, at)
}

function compile(source: string, inWait: boolean): Compiled {
  try {
    return (inWait ? WAIT_ENVIRONMENT : EVENT_ENVIRONMENT).parse(source)
  } catch (error) {
    throw notCompiled(error, source, inWait)
  }
}

function notCompiled(error: unknown, source: string, inWait: boolean): ExpressionError {
  const reason = reasonOf(error)
  return new ExpressionError(`does not compile: ${reason}`, positionOf(error), hintFor(source, reason, { inWait }))
}

interface Shape {
  nodes: number
  patterns: number
  /** Functions that make the nodes charge their work, to be called once the types are checked. */
  metered: (() => void)[]
  /** The first function without a cost: with it, the evaluation could not be bounded. */
  unpriced?: { name: string; at: number }
}

/** Checks the tree. Adds its nodes and patterns to `shape`. */
function readTree(node: unknown, shape: Shape, nesting: number): void {
  if (Array.isArray(node)) {
    for (const part of node) readTree(part, shape, nesting)
    return
  }
  if (!isNode(node)) return
  shape.nodes++
  if (node.op === 'map') shape.metered.push(() => meterMap(node))
  const call = (node.op === 'rcall' || node.op === 'call') && Array.isArray(node.args) ? node.args : undefined
  const name: unknown = call?.[0]
  if (typeof name !== 'string') {
    shape.metered.push(() => meterOperator(node))
    readTree(node.args, shape, nesting)
    return
  }
  if (COMPREHENSIONS.has(name)) nesting++
  if (nesting > NESTING_MAX) throw new ExpressionError(`nests more than ${NESTING_MAX} comprehensions`, node.start)
  readTree(node.args, shape, nesting)
  const { alternate } = node.meta
  if (alternate) shape.metered.push(() => meterComprehension(alternate))
  else if (!node.meta.macro) {
    const pattern = name === 'matches' ? patternOf(call as unknown[]) : undefined
    if (pattern) shape.patterns++
    if (Object.hasOwn(FUNCTION_COSTS, name)) shape.metered.push(() => meterCall(node, name, pattern))
    else shape.unpriced ??= { name, at: node.start }
  }
}

/** The compiled pattern of a literal. Its author sees an error at registration, instead of later in the log. */
function patternOf(call: unknown[]): Pattern | undefined {
  const [argument] = (call.at(-1) ?? []) as Node[]
  if (argument?.op !== 'value' || typeof argument.args !== 'string') return undefined
  try {
    return literalPattern(argument.args)
  } catch (error) {
    throw new ExpressionError(`has a pattern that ${reasonOf(error)}`, argument.start)
  }
}

function checkType(run: Compiled, source: string, { purpose, inWait }: { purpose: Purpose; inWait: boolean }): void {
  const checked = run.check()
  if (!checked.valid) throw notCompiled(checked.error, source, inWait)
  const type = String(checked.type)
  const { types, expected } = RESULTS[purpose]
  if (!types.includes(type)) throw new ExpressionError(`gives ${type}, not ${expected}`, 0)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

/** The first line of the error: the library's messages draw the source below it. */
function reasonOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string }
  return (summary ?? message ?? String(error)).split('\n', 1)[0] as string
}

function positionOf(error: unknown): number {
  return (error as { range?: { start?: number } }).range?.start ?? 0
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return 'a number'
  return value === null ? 'null' : typeof value === 'object' ? 'a map' : `a ${typeof value}`
}

/** States why the expression does not compile; undefined if it compiles. */
export function expressionFault(...of: Parameters<typeof compiled>): string | undefined {
  try {
    compiled(...of)
    return undefined
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
}

/** Memory of a node, and of a compiled pattern without its automaton. */
const NODE_BYTES = 600
const PATTERN_BYTES = 64 * 1024
/** Beyond this memory, the oldest compiled expressions are dropped: filters of waits may contain data of their run. */
let cacheBytesMax = 128 * 1024 * 1024

/** The cost of compiling an expression. */
const COMPILE_COST = 50_000

const cache = new Map<string, Expression>()
let cachedBytes = 0

/** Replaces the maximum memory of the compiled expressions that are kept: 128 MiB, unless the heap is small. */
export function boundCompiledExpressions(bytesMax: number): void {
  cacheBytesMax = bytesMax
}

/** Number and approximate memory of the compiled expressions that are kept. */
export function compiledExpressions(): { count: number; bytes: number } {
  return { count: cache.size, bytes: cachedBytes }
}

/** The compiled expression. Throws ExpressionError; registered expressions were checked to compile. */
export function compiled(source: string, purpose: Purpose, options: { inWait?: boolean } = {}): Expression {
  const key = `${purpose}${options.inWait ? '*' : ' '}${source}`
  let expression = cache.get(key)
  if (!expression) {
    takeTurn()
    addWork(COMPILE_COST)
    expression = new Expression(source, purpose, options)
    cache.set(key, expression)
    cachedBytes += expression.bytes
    for (const [oldest, { bytes }] of cache) {
      if (cachedBytes <= cacheBytesMax) break
      cache.delete(oldest)
      cachedBytes -= bytes
    }
  }
  return expression
}
