// Compiles and evaluates CEL expressions (docs/events.md#expressions). Length, tree size, nesting and reads are bounded,
// so no expression can run for long. An evaluation that fails returns its error.

import { EXPRESSION_CHARS_MAX } from '@perdure/protocol'
import { Budget } from './budget.ts'
import { BOUNDED, EVENT_ENVIRONMENT, NODES_MAX, pattern, WAIT_ENVIRONMENT } from './environment.ts'

/** The use of an expression, which decides its type: a condition, the key of a policy, or a number. */
export type Purpose = 'condition' | 'key' | 'number'

export interface Subject {
  name: string
  id?: string
  data?: unknown
}

/** The variables of an expression: the event, and in a wait, as `async`, the event that arrived. */
export interface Scope {
  event: Subject
  async?: Subject
}

/** Says why an expression does not compile, and where: `position` counts characters from 0. */
export class ExpressionError extends Error {
  override name = 'ExpressionError'
  readonly position: number

  constructor(message: string, position: number) {
    super(`${message} (at character ${position + 1})`)
    this.position = position
  }
}

export type Evaluated<T> = { ok: true; value: T } | { ok: false; error: string }

/** Maximum nesting of comprehensions: each level multiplies the work. */
const NESTING_MAX = 2
const COMPARING = new Set(['==', '!=', 'in'])
const SCALARS = new Set(['string', 'boolean', 'number', 'bigint'])
const COMPREHENSIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind'])

/** The types that CEL may derive for the result, and their names in errors. */
const RESULTS: Record<Purpose, { types: readonly string[]; expected: string }> = {
  condition: { types: ['bool', 'dyn'], expected: 'a bool' },
  key: {
    types: ['string', 'int', 'uint', 'double', 'bool', 'null', 'dyn'],
    expected: 'a string, number, bool or null',
  },
  number: { types: ['int', 'uint', 'double', 'dyn'], expected: 'a number' },
}

interface Node {
  op: string
  args: unknown
  start: number
  setMeta(key: 'evaluate', value: typeof evaluateMap): void
}

type Compiled = ReturnType<typeof EVENT_ENVIRONMENT.parse>

export class Expression {
  readonly source: string
  readonly #run: Compiled
  readonly #nodes: number
  /** Whether it reads through lists, maps or texts. The work of any other expression is bounded by its size. */
  readonly #walks: boolean

  /** Throws ExpressionError. `inWait` allows the variable `async`. */
  constructor(source: string, purpose: Purpose, { inWait = false }: { inWait?: boolean } = {}) {
    this.source = source
    if (source.length > EXPRESSION_CHARS_MAX) {
      throw new ExpressionError(`must not have more than ${EXPRESSION_CHARS_MAX} characters`, EXPRESSION_CHARS_MAX)
    }
    this.#run = compile(source, inWait)
    const shape = { nodes: 0, walks: false }
    inspectTree(this.#run.ast as unknown as Node, shape, 0)
    this.#nodes = Math.min(Math.max(1, shape.nodes), NODES_MAX)
    this.#walks = shape.walks
    checkType(this.#run, purpose)
  }

  /** Whether the condition holds. */
  holds(scope: Scope): Evaluated<boolean> {
    const result = this.#evaluate(scope)
    if (!result.ok || typeof result.value === 'boolean') return result as Evaluated<boolean>
    return { ok: false, error: `the condition gives ${nameOf(result.value)}, not a bool` }
  }

  /** The key as a text: a string as it is, any other scalar as JSON writes it. */
  key(scope: Scope): Evaluated<string> {
    const result = this.#evaluate(scope)
    if (!result.ok) return result
    const { value } = result
    if (value === null || SCALARS.has(typeof value)) return { ok: true, value: String(value) }
    return { ok: false, error: `the key gives ${nameOf(value)}, not a string, number, bool or null` }
  }

  number(scope: Scope): Evaluated<number> {
    const result = this.#evaluate(scope)
    if (!result.ok) return result
    const number = typeof result.value === 'bigint' ? Number(result.value) : result.value
    if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number }
    return { ok: false, error: `the expression gives ${nameOf(result.value)}, not a number` }
  }

  #evaluate({ event, async }: Scope): Evaluated<unknown> {
    const budget = this.#walks ? new Budget(this.#nodes) : undefined
    const seen = (subject: Subject): Subject => (budget ? budget.counted(subject) : subject)
    try {
      const value: unknown = this.#run(
        async === undefined ? { event: seen(event) } : { event: seen(event), async: seen(async) },
      )
      return { ok: true, value }
    } catch (error) {
      return { ok: false, error: reasonOf(error) }
    }
  }
}

function compile(source: string, inWait: boolean): Compiled {
  try {
    return (inWait ? WAIT_ENVIRONMENT : EVENT_ENVIRONMENT).parse(source)
  } catch (error) {
    throw new ExpressionError(`does not compile: ${reasonOf(error)}`, positionOf(error))
  }
}

/** Counts and checks the nodes of the tree; replaces unbounded standard functions, and how maps are built. */
function inspectTree(node: unknown, shape: { nodes: number; walks: boolean }, nesting: number): void {
  if (Array.isArray(node)) {
    for (const part of node) inspectTree(part, shape, nesting)
    return
  }
  if (!isNode(node)) return
  shape.nodes++
  if (node.op === 'map') node.setMeta('evaluate', evaluateMap)
  const call = (node.op === 'rcall' || node.op === 'call') && Array.isArray(node.args) ? node.args : undefined
  const name: unknown = call?.[0]
  if (call && typeof name === 'string') {
    shape.walks = true
    if (name in BOUNDED) call[0] = BOUNDED[name]
    if (name === 'matches') checkPattern(call)
    if (COMPREHENSIONS.has(name)) nesting++
    if (nesting > NESTING_MAX) throw new ExpressionError(`nests more than ${NESTING_MAX} comprehensions`, node.start)
  }
  // Equality and membership read through both sides, unless one is a literal of the expression.
  if (COMPARING.has(node.op) && !isLiteral((node.args as unknown[])[node.op === 'in' ? 1 : 0])) {
    shape.walks ||= !isLiteral((node.args as unknown[])[1])
  }
  inspectTree(node.args, shape, nesting)
}

/**
 * Builds a map literal without Object.prototype: compared with a map of the event, it would otherwise have a `__proto__`.
 * As in the standard implementation, a map has no `constructor`, which the evaluator would take for the map's type.
 */
function evaluateMap(
  evaluator: { run(node: Node, context: unknown): unknown },
  { args }: Node,
  context: unknown,
): object {
  const members: Record<string, unknown> = Object.create(null)
  for (const [key, value] of args as [Node, Node][]) {
    const name = String(evaluator.run(key, context))
    if (name !== 'constructor') members[name] = evaluator.run(value, context)
  }
  return members
}

/** Compiles a literal pattern at once, so that the author sees the error at registration, and not the log later. */
function checkPattern(call: unknown[]): void {
  const [argument] = (call.at(-1) ?? []) as Node[]
  if (argument?.op !== 'value' || typeof argument.args !== 'string') return
  try {
    pattern(argument.args)
  } catch (error) {
    throw new ExpressionError(`has a pattern that is not RE2: ${reasonOf(error)}`, argument.start)
  }
}

function checkType(run: Compiled, purpose: Purpose): void {
  const checked = run.check()
  if (!checked.valid) {
    throw new ExpressionError(`does not compile: ${reasonOf(checked.error)}`, positionOf(checked.error))
  }
  const type = String(checked.type)
  const { types, expected } = RESULTS[purpose]
  if (!types.includes(type)) throw new ExpressionError(`gives ${type}, not ${expected}`, 0)
}

/** Whether the node is a literal, or a list of literals. */
function isLiteral(node: unknown): boolean {
  if (!isNode(node)) return false
  return node.op === 'value' || (node.op === 'list' && Array.isArray(node.args) && node.args.every(isLiteral))
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

/** Says why the expression does not compile; undefined if it does. */
export function expressionFault(...of: Parameters<typeof compiled>): string | undefined {
  try {
    compiled(...of)
    return undefined
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
}

/** The cache is cleared at this size, so that expressions of removed workflows do not pile up. */
const CACHE_MAX = 10_000

const cache = new Map<string, Expression>()

/** The compiled expression. Throws ExpressionError; registered expressions have been checked to compile. */
export function compiled(source: string, purpose: Purpose, options: { inWait?: boolean } = {}): Expression {
  const key = `${purpose}${options.inWait ? '*' : ' '}${source}`
  let expression = cache.get(key)
  if (!expression) {
    expression = new Expression(source, purpose, options)
    if (cache.size >= CACHE_MAX) cache.clear()
    cache.set(key, expression)
  }
  return expression
}
