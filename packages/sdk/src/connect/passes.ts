// The passes in flight on a runner, and their frames that the engine has not acknowledged yet. A pass outlives the socket of its
// invoke: when the link has reconnected, it sends the `unacknowledged` frames again. Called by the links.

import { knows } from '@perdure/protocol'
import type { Checkpointer, CheckpointReceipt, CheckpointReport } from '../pass/checkpoints.ts'
import type { Answer } from '../replay/answer.ts'
import type { InvokeOptions } from '../replay/invoke.ts'
import { Cancellation } from '../run/cancellation.ts'
import { deferred } from '../run/deferred.ts'
import type { Handler } from '../runner/handler.ts'
import { Asks } from './asks.ts'
import { checkpointText, fieldOf, type Outlet, resultText } from './frames.ts'
import { StreamAppends } from './stream-appends.ts'

/** Maximum number of characters kept in results that the engine has not acknowledged. Above it the oldest results are dropped. */
const UNACKNOWLEDGED_CHARS_MAX = 64 * 1024 * 1024

/** A callback that runs for longer is reported to the engine. */
const RUNNING_AFTER_MS = 500

/** How long after the end of a run the engine accepts an answer, to undo the steps that had succeeded. */
const LATE_MS = 10_000

interface PendingCheckpoint {
  readonly frame: string
  resolve(receipt: CheckpointReceipt): void
  reject(error: unknown): void
}

interface PassUnderWay {
  readonly id: string
  readonly outlet: Outlet
  readonly cancellation: Cancellation
  /** By seq, in ascending order. */
  readonly checkpoints: Map<number, PendingCheckpoint>
  checkpointCount: number
  /** Created when a step first writes to an output stream. */
  appends?: StreamAppends
  /** Whether the engine accepts an answer after the end of the run. */
  readonly mayBeLate: boolean
  /** Set while the pass is cancelled but may still answer. */
  late?: ReturnType<typeof setTimeout>
}

/** The result of an ended pass that the engine has not acknowledged. */
interface Result {
  readonly outlet: Outlet
  /** The frames of the checkpoints that were unacknowledged when the pass ended, then the result. */
  readonly frames: readonly string[]
  readonly chars: number
}

/** All passes of one runner, over all its sockets. */
export class Passes {
  readonly #handler: Handler
  readonly #running = new Map<string, PassUnderWay>()
  /** In the order in which the passes ended. */
  readonly #results = new Map<string, Result>()
  #resultChars = 0
  readonly #idleWaiters = new Map<Outlet, () => void>()
  readonly asks = new Asks(() => this.#notifyIdle())

  constructor(handler: Handler) {
    this.#handler = handler
  }

  /** Starts a pass; `outlet` sends its result. A pass with the same id is cancelled and its result dropped. */
  start(id: string, request: unknown, outlet: Outlet, checkpoints: boolean): void {
    const earlier = this.#running.get(id)
    if (earlier) this.#stop(earlier, new Error('The engine reused the id of this invoke'))
    this.acknowledged(id)
    const pass: PassUnderWay = {
      id,
      outlet,
      cancellation: new Cancellation(),
      checkpoints: new Map(),
      checkpointCount: 0,
      mayBeLate: knows(fieldOf(fieldOf(request, 'ctx'), 'features'), 'cleanup'),
    }
    this.#running.set(id, pass)
    const checkpoint = (report: CheckpointReport) => this.#checkpoint(pass, report)
    const options: InvokeOptions = {
      cancellation: pass.cancellation,
      checkpoint: checkpoints ? checkpoint : undefined,
      running: checkpoints ? { afterMs: RUNNING_AFTER_MS, tell: fieldsTo(checkpoint) } : undefined,
      ask: asked => this.asks.ask(outlet, asked),
      streams: () => {
        pass.appends ??= new StreamAppends(id, outlet)
        return pass.appends
      },
    }
    this.#handler.invoke(request, options).then(answer => this.#ended(pass, answer))
  }

  /** Cancels a pass: its run has ended, or the engine no longer expects its result. */
  cancel(id: string): void {
    const pass = this.#running.get(id)
    if (!pass) return
    const reason = new Error('The engine cancelled the invoke')
    const stop = () => this.#stop(pass, reason)
    if (!pass.mayBeLate || pass.late) stop()
    else {
      pass.late = setTimeout(stop, LATE_MS)
      pass.late.unref?.()
      pass.cancellation.cancel(reason, true)
    }
  }

  /** The engine has made a checkpoint durable. */
  checkpointAcknowledged(id: string, payload: unknown): void {
    const seq = fieldOf(payload, 'seq')
    const pass = this.#running.get(id)
    const pending = typeof seq === 'number' ? pass?.checkpoints.get(seq) : undefined
    if (!pass || !pending) return
    pass.checkpoints.delete(seq as number)
    const steps = fieldOf(payload, 'steps')
    const receipt = { steps: Array.isArray(steps) ? steps : [], stop: fieldOf(payload, 'stop') === true }
    pending.resolve(receipt as CheckpointReceipt)
  }

  /** The engine has stored or refused an append to an output stream. */
  appendAcknowledged(id: string, payload: unknown): void {
    this.#running.get(id)?.appends?.acknowledged(payload)
  }

  /** The engine has the result. */
  acknowledged(id: string): void {
    const result = this.#results.get(id)
    if (!result) return
    this.#results.delete(id)
    this.#resultChars -= result.chars
    this.#notifyIdle()
  }

  /** Returns the ids of an outlet's invokes that are in flight or whose result is not acknowledged. */
  underWay(outlet: Outlet): string[] {
    const all = [...this.#running, ...this.#results]
    return all.filter(([, one]) => one.outlet === outlet).map(([id]) => id)
  }

  /** Returns the frames of an outlet that are not acknowledged, in the order in which they were first sent. */
  unacknowledged(outlet: Outlet): string[] {
    const frames: string[] = []
    for (const pass of this.#running.values()) {
      if (pass.outlet !== outlet) continue
      for (const { frame } of pass.checkpoints.values()) frames.push(frame)
      if (pass.appends) frames.push(...pass.appends.unacknowledged)
    }
    for (const result of this.#results.values()) if (result.outlet === outlet) frames.push(...result.frames)
    frames.push(...this.asks.unacknowledged(outlet))
    return frames
  }

  /** Cancels the passes of an outlet and drops its results. */
  abandon(outlet: Outlet, reason: unknown): void {
    for (const [id, result] of this.#results) if (result.outlet === outlet) this.acknowledged(id)
    for (const pass of this.#running.values()) if (pass.outlet === outlet) this.#stop(pass, reason)
    this.asks.abandon(outlet)
  }

  /** Resolves when no pass of the outlet is in flight and all its results and requests are acknowledged. Called once per outlet. */
  idle(outlet: Outlet): Promise<void> {
    return new Promise(resolve => {
      this.#idleWaiters.set(outlet, resolve)
      this.#notifyIdle()
    })
  }

  #checkpoint(pass: PassUnderWay, report: CheckpointReport): Promise<CheckpointReceipt> {
    const seq = ++pass.checkpointCount
    const frame = checkpointText(pass.id, seq, report)
    if (!this.#runs(pass)) return Promise.reject(new Error('The invoke has ended'))
    // If the pass has ended, nobody awaits the receipt.
    const receipt = deferred<CheckpointReceipt>()
    pass.checkpoints.set(seq, { frame, ...receipt })
    pass.outlet.send(frame)
    return receipt.promise
  }

  #ended(pass: PassUnderWay, answer: Answer): void {
    if (!this.#runs(pass)) return
    clearTimeout(pass.late)
    this.#running.delete(pass.id)
    const frame = resultText(pass.id, answer)
    const frames = [...[...pass.checkpoints.values()].map(pending => pending.frame), frame]
    const chars = frames.reduce((sum, { length }) => sum + length, 0)
    this.#results.set(pass.id, { outlet: pass.outlet, frames, chars })
    this.#resultChars += chars
    // This drops only the copy for a second attempt: if the socket still holds, the engine gets the first one.
    for (const id of this.#results.keys()) {
      if (this.#resultChars <= UNACKNOWLEDGED_CHARS_MAX || id === pass.id) break
      this.acknowledged(id)
    }
    pass.outlet.send(frame)
  }

  #stop(pass: PassUnderWay, reason: unknown): void {
    clearTimeout(pass.late)
    this.#running.delete(pass.id)
    pass.cancellation.cancel(reason)
    for (const { reject } of pass.checkpoints.values()) reject(reason)
    pass.checkpoints.clear()
    this.#notifyIdle()
  }

  #runs(pass: PassUnderWay): boolean {
    return this.#running.get(pass.id) === pass
  }

  #isIdle(outlet: Outlet): boolean {
    return this.underWay(outlet).length === 0 && this.asks.unacknowledged(outlet).length === 0
  }

  #notifyIdle(): void {
    for (const [outlet, resolve] of this.#idleWaiters) if (this.#isIdle(outlet)) resolve()
  }
}

/** Sends only fields. The receipt has nothing for the pass, and a pass without one finds out with its next report. */
function fieldsTo(checkpoint: Checkpointer): (fields: string) => void {
  return fields => void checkpoint({ opcodes: '[]', logs: '[]', fields }).catch(() => {})
}
