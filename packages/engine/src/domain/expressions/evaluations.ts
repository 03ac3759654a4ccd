// A decision may evaluate thousands of expressions, within a share of the work of one turn of the event loop. When the share is
// used up, the decision ends and is made again in a later turn, where every earlier evaluation already has its result. Called
// by services/commit/turns, which waits for the turn, and by matching.ts.

import type { JsonText } from '../text/json-text.ts'
import { jsonValue } from './json-value.ts'
import { addWork, workDone } from './meter.ts'

/** The work of all evaluations in one turn of the event loop: a few milliseconds. */
export const TURN_COST = 500_000
/** The cost of an evaluation in addition to its work. */
const EVALUATION_COST = 300
/** The cost of parsing, per character. */
const PARSED_CHAR_COST = 2
/** Maximum length of the texts whose parsed values are kept for later turns. */
const PARSED_CHARS_MAX = 4 * 1024 * 1024

/** Ends a decision whose turn is over. */
export class TurnOver extends Error {}

/** A single instance: nobody reads its stack. */
const TURN_OVER = new TurnOver('the decision continues in a later turn of the event loop')

export type Evaluated<T> = { ok: true; value: T } | { ok: false; error: string }

/** An event as an expression reads it; the data is the text in which it came. */
export interface ReadEvent {
  id?: string | undefined
  name: string
  data?: JsonText | undefined
}

/** One evaluation: the expression, its purpose, and the events that it reads. */
interface Evaluation {
  source: string
  use: string
  event: ReadEvent
  async: ReadEvent | undefined
}

let turnFrom = 0
let underWay: Evaluations | undefined

/** Begins a turn of the event loop, with a full share. */
export function beginTurn(): void {
  turnFrom = workDone()
}

/** Whether expressions were evaluated in this turn. */
export function hasWorkedInTurn(): boolean {
  return workDone() !== turnFrom
}

/** The evaluations of one decision, in their order. A decision that is made again requests the same ones. */
export class Evaluations {
  readonly #done: (Evaluation & { result: Evaluated<unknown> })[] = []
  /** Created for the first event that is parsed: most decisions evaluate nothing. */
  #parsed: Map<JsonText, unknown> | undefined
  #parsedChars = 0
  #at = 0
  /** Whether the decision must still make progress in this turn, even if others have used up the share. */
  #isOwed = false

  /** Makes the decision, unless its turn ends first. `isOwed`: it evaluates at least one expression. */
  decide<T>(decision: () => T, { isOwed }: { isOwed: boolean }): T | TurnOver {
    const outer = underWay
    underWay = this
    this.#at = 0
    this.#isOwed = isOwed
    try {
      return decision()
    } catch (error) {
      if (error === TURN_OVER) return TURN_OVER
      throw error
    } finally {
      underWay = outer
    }
  }

  /** Throws TURN_OVER when the share is used up. */
  takeTurn(): void {
    if (!this.#isOwed && workDone() - turnFrom >= TURN_COST) throw TURN_OVER
    this.#isOwed = false
  }

  evaluate<T>(evaluation: Evaluation, evaluate: () => Evaluated<T>): Evaluated<T> {
    const before = this.#done[this.#at]
    if (before && isSame(before, evaluation)) {
      this.#at++
      return before.result as Evaluated<T>
    }
    this.takeTurn()
    addWork(EVALUATION_COST)
    const result = evaluate()
    // The decision reads other rows than before, so the evaluations differ from here on.
    this.#done.length = this.#at++
    this.#done.push({ ...evaluation, result })
    return result
  }

  parse(text: JsonText): unknown {
    if (this.#parsed?.has(text)) return this.#parsed.get(text)
    const value = parse(text)
    this.#parsedChars += text.length
    if (this.#parsedChars > PARSED_CHARS_MAX) return value
    this.#parsed ??= new Map()
    this.#parsed.set(text, value)
    return value
  }
}

/** Evaluates, or returns the result that the decision under way already has. */
export function evaluateOnce<T>(evaluation: Evaluation, evaluate: () => Evaluated<T>): Evaluated<T> {
  return underWay ? underWay.evaluate(evaluation, evaluate) : evaluate()
}

/** The value of a JSON text, parsed once for the decision under way. */
export function parsedOnce(text: JsonText): unknown {
  return underWay ? underWay.parse(text) : parse(text)
}

/** Must be called before an expression is compiled. Throws TURN_OVER when the turn of the decision under way is over. */
export function takeTurn(): void {
  underWay?.takeTurn()
}

function parse(text: JsonText): unknown {
  addWork(text.length * PARSED_CHAR_COST)
  return jsonValue(text)
}

function isSame(one: Evaluation, other: Evaluation): boolean {
  return (
    one.source === other.source &&
    one.use === other.use &&
    isSameEvent(one.event, other.event) &&
    (one.async === other.async ||
      (one.async !== undefined && other.async !== undefined && isSameEvent(one.async, other.async)))
  )
}

function isSameEvent(one: ReadEvent, other: ReadEvent): boolean {
  return one.id === other.id && one.name === other.name && one.data === other.data
}
