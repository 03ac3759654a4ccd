// The steps that a pass has discovered and not reported yet, in the order in which they came to an end: a callback when it has
// settled, every other step when it is discovered. The engine stores them in that order, and every replay follows it. Used by the
// pass and its checkpoints.
//
// With `handsOver` the handler gets the results of finished steps before they are stored, all at once, as soon as no callback
// runs and nothing else is outstanding. No callback starts until they are stored: if the handler calls a step with a callback, a
// checkpoint reports them or the pass ends. If the handler returns first, the answer that carries them ends the run. They are
// reported in the order in which the handler got them, which is the order of every replay.

import { AsyncResource } from 'node:async_hooks'
import { byteLength } from '../wire/text-size.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'
import type { StepId } from './step-ids.ts'

/** The opcode of a discovered step, or the function that starts the step's callback. */
export type Discovery = EncodedOpcode | StartOfCallback
export type StartOfCallback = () => RunningCallback

/** A callback that runs. */
export interface RunningCallback {
  readonly id: StepId
  /** By the monotonic clock. */
  readonly startedAt: number
  /** Never rejects: a failure is an opcode too. */
  readonly opcode: Promise<EncodedOpcode>
  /** Gives up the attempt. Returns the opcode of its failure. */
  giveUp(error: Error): EncodedOpcode
  /** Aborts the attempt, because nobody wants its result. */
  abort(reason: Error): void
}

/** A callback that has not started. */
interface DeferredCallback {
  readonly id: StepId
  readonly start: StartOfCallback
}

/**
 * Maximum size of the results that the handler gets before they are stored: an answer or a checkpoint must have space for them.
 */
const HANDED_CHARS_MAX = 128 * 1024

export class Discoveries {
  readonly #found: EncodedOpcode[] = []
  readonly #handed: EncodedOpcode[] = []
  #handedChars = 0
  readonly #running = new Set<RunningCallback>()
  #deferred: DeferredCallback[] = []

  /** How many step callbacks are running. */
  get running(): number {
    return this.#running.size
  }

  /** Whether callbacks are to start later. */
  get hasDeferred(): boolean {
    return this.#deferred.length > 0
  }

  /** The callbacks that are running, in the order of their start. */
  get callbacks(): RunningCallback[] {
    return [...this.#running]
  }

  /** How many steps have an opcode to report. */
  get size(): number {
    return this.#found.length + this.#handed.length
  }

  /** The opcodes with a result that are not reported and that the handler does not have. */
  get finished(): EncodedOpcode[] {
    return this.#found.filter(({ settles }) => settles)
  }

  /** Whether the handler has results that are not reported. */
  get hasHanded(): boolean {
    return this.#handed.length > 0
  }

  /** Whether the engine would settle one of the steps at once, so that the handler could continue. */
  get isUrgent(): boolean {
    return this.hasHanded || this.#found.some(({ op }) => OPCODE_RULES[op].isUrgent)
  }

  /** Adds the opcode of a discovered step. */
  add(opcode: EncodedOpcode): void {
    this.#found.push(opcode)
  }

  /** Starts the callback of a discovered step. `finished` is called when it has settled. */
  start(start: StartOfCallback, finished: () => void): void {
    const callback = start()
    this.#running.add(callback)
    callback.opcode.then(opcode => {
      // Drop the result of an attempt that was given up.
      if (!this.#running.delete(callback)) return
      this.#found.push(opcode)
      finished()
    })
  }

  /** Keeps a callback that is to start later. `nextTurn` gets all of them, in the next turn of the event loop. */
  defer(id: StepId, start: StartOfCallback, nextTurn: (deferred: readonly DeferredCallback[]) => void): void {
    if (this.#deferred.push({ id, start: inScopeOfCaller(start) }) === 1)
      setImmediate(() => nextTurn(this.#deferred.splice(0)))
  }

  /** Gives up the running callbacks: their attempts have failed with the error. */
  giveUp(error: Error): void {
    for (const callback of this.#running) this.#found.push(callback.giveUp(error))
    this.#running.clear()
  }

  /** Aborts the running callbacks of these steps. Nothing about them is reported. */
  abort(isUnwanted: (id: StepId) => boolean, reason: Error): void {
    for (const callback of this.#running) {
      if (!isUnwanted(callback.id)) continue
      this.#running.delete(callback)
      callback.abort(reason)
    }
  }

  /**
   * Returns the steps that the handler may have before they are stored, in the order in which they will be stored: all found
   * steps, if each is sure to settle with its result, `count` of them are outstanding, and no callback runs. Otherwise returns
   * undefined. Steps of a branch that was cut off may be among them; they are not outstanding.
   */
  handOver(count: number, isOutstanding: (id: string) => boolean): EncodedOpcode[] | undefined {
    if (this.#running.size > 0 || this.#found.length < count || !this.#found.every(({ settles }) => settles)) return
    if (this.#found.filter(({ id }) => isOutstanding(id)).length !== count) return
    const chars = this.#found.reduce((sum, { text }) => sum + text.length, this.#handedChars)
    if (chars > HANDED_CHARS_MAX) return undefined
    this.#handedChars = chars
    const opcodes = this.#takeFound(Number.POSITIVE_INFINITY, 1)
    this.#handed.push(...opcodes)
    return opcodes
  }

  /** Removes and returns the opcodes whose results the handler has. They are stored before all others. */
  takeHanded(): EncodedOpcode[] {
    this.#handedChars = 0
    return this.#handed.splice(0)
  }

  /** Adds opcodes whose report failed. They are stored before all others. */
  takeBack(opcodes: readonly EncodedOpcode[]): void {
    this.#handed.unshift(...opcodes)
  }

  /** Removes and returns the first opcodes that fit into `bytesMax`, but at least one. Returns all by default. */
  take(bytesMax = Number.POSITIVE_INFINITY): EncodedOpcode[] {
    const handed = this.takeHanded()
    if (handed.length === 0) return this.#takeFound(bytesMax, 1)
    const left = bytesMax - handed.reduce((sum, { text }) => sum + byteLength(text) + 1, 0)
    return this.#found.length === 0 ? handed : [...handed, ...this.#takeFound(left, 0)]
  }

  #takeFound(bytesMax: number, countMin: number): EncodedOpcode[] {
    let bytes = 0
    const end = this.#found.findIndex(({ text }) => {
      bytes += byteLength(text) + 1
      return bytes > bytesMax
    })
    const count = end < 0 ? this.#found.length : Math.max(countMin, end)
    return this.#found.splice(0, count)
  }
}

/** Lets a callback that starts later run in the async scope of its call. */
export function inScopeOfCaller(start: StartOfCallback): StartOfCallback {
  const caller = new AsyncResource('perdure.step')
  return () => caller.runInAsyncScope(start)
}
