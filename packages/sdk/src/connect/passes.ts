// The passes under way on this runner, and what of theirs the engine has not acknowledged yet. They outlive the
// socket they came on: when it is back, the link sends again what `unacknowledged` gives.

import { Cancellation } from '../cancellation.ts'
import type { Handler } from '../handler.ts'
import type { Answer } from '../replay/answer.ts'
import type { CheckpointReceipt, CheckpointReport } from '../replay/checkpoint.ts'
import { checkpointText, fieldOf, resultText } from './frames.ts'

/** Where the frames of a pass go; one that is away drops them. */
export interface Outlet {
  send(frame: string): void
}

/** Kept of results that the engine has not acknowledged, in characters; beyond it the oldest are given up. */
const RESULT_CHARS_MAX = 64 * 1024 * 1024

interface PendingCheckpoint {
  readonly frame: string
  resolve(receipt: CheckpointReceipt): void
  reject(error: unknown): void
}

interface PassUnderWay {
  readonly id: string
  readonly outlet: Outlet
  readonly cancellation: Cancellation
  /** By seq, in their order. */
  readonly checkpoints: Map<number, PendingCheckpoint>
  checkpointCount: number
}

interface Result {
  readonly outlet: Outlet
  /** The checkpoints that were still open when the pass ended, and the result. */
  readonly frames: readonly string[]
  readonly chars: number
}

/** Every pass of one runner, over all its sockets. */
export class Passes {
  readonly #handler: Handler
  readonly #running = new Map<string, PassUnderWay>()
  /** In the order in which the passes ended. */
  readonly #results = new Map<string, Result>()
  #resultChars = 0
  readonly #idleWaiters = new Map<Outlet, () => void>()

  constructor(handler: Handler) {
    this.#handler = handler
  }

  /** Starts a pass; its result goes to `outlet`. An id that is known names a new pass: the earlier one is over. */
  start(id: string, request: unknown, outlet: Outlet, checkpoints: boolean): void {
    this.cancel(id, new Error('The engine gave the id of this invoke to another one'))
    this.acknowledged(id)
    const pass: PassUnderWay = {
      id,
      outlet,
      cancellation: new Cancellation(),
      checkpoints: new Map(),
      checkpointCount: 0,
    }
    this.#running.set(id, pass)
    const options = {
      cancellation: pass.cancellation,
      ...(checkpoints && { checkpoint: (report: CheckpointReport) => this.#checkpoint(pass, report) }),
    }
    this.#handler.invoke(request, options).then(answer => this.#ended(pass, answer))
  }

  /** Cancels a pass: the engine asks for no result any more. */
  cancel(id: string, reason?: unknown): void {
    const pass = this.#running.get(id)
    if (pass) this.#stop(pass, reason ?? new Error('The engine cancelled the invoke'))
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

  /** The engine has the result. */
  acknowledged(id: string): void {
    const result = this.#results.get(id)
    if (!result) return
    this.#results.delete(id)
    this.#resultChars -= result.chars
    this.#tellIdle()
  }

  /** The invokes of an outlet that are still worked on, or whose result is not acknowledged. */
  underWay(outlet: Outlet): string[] {
    const ids: string[] = []
    for (const [id, pass] of this.#running) if (pass.outlet === outlet) ids.push(id)
    for (const [id, result] of this.#results) if (result.outlet === outlet) ids.push(id)
    return ids
  }

  /** What was sent to `outlet` and not acknowledged, in the order in which it was sent the first time. */
  unacknowledged(outlet: Outlet): string[] {
    const frames: string[] = []
    for (const pass of this.#running.values()) {
      if (pass.outlet !== outlet) continue
      for (const { frame } of pass.checkpoints.values()) frames.push(frame)
    }
    for (const result of this.#results.values()) if (result.outlet === outlet) frames.push(...result.frames)
    return frames
  }

  /** Cancels the passes of an outlet and forgets its results. */
  abandon(outlet: Outlet, reason: unknown): void {
    for (const [id, result] of this.#results) if (result.outlet === outlet) this.acknowledged(id)
    for (const pass of this.#running.values()) if (pass.outlet === outlet) this.#stop(pass, reason)
  }

  /** Resolves when no pass of the outlet runs and all its results are acknowledged. Waited for once. */
  idle(outlet: Outlet): Promise<void> {
    return new Promise(resolve => {
      this.#idleWaiters.set(outlet, resolve)
      this.#tellIdle()
    })
  }

  #checkpoint(pass: PassUnderWay, report: CheckpointReport): Promise<CheckpointReceipt> {
    const seq = ++pass.checkpointCount
    const frame = checkpointText(pass.id, seq, report)
    if (!this.#runs(pass)) return Promise.reject(new Error('The invoke is over'))
    const receipt = new Promise<CheckpointReceipt>((resolve, reject) => {
      pass.checkpoints.set(seq, { frame, resolve, reject })
    })
    // A pass that ended before has nobody waiting for it.
    receipt.catch(() => undefined)
    pass.outlet.send(frame)
    return receipt
  }

  #ended(pass: PassUnderWay, answer: Answer): void {
    if (!this.#runs(pass)) return
    this.#running.delete(pass.id)
    const frame = resultText(pass.id, answer)
    const frames = [...[...pass.checkpoints.values()].map(pending => pending.frame), frame]
    const chars = frames.reduce((sum, { length }) => sum + length, 0)
    this.#results.set(pass.id, { outlet: pass.outlet, frames, chars })
    this.#resultChars += chars
    // The copy goes, not the result: a socket that holds has sent it already.
    for (const id of this.#results.keys()) {
      if (this.#resultChars <= RESULT_CHARS_MAX || id === pass.id) break
      this.acknowledged(id)
    }
    pass.outlet.send(frame)
  }

  #stop(pass: PassUnderWay, reason: unknown): void {
    this.#running.delete(pass.id)
    pass.cancellation.cancel(reason)
    for (const { reject } of pass.checkpoints.values()) reject(reason)
    pass.checkpoints.clear()
    this.#tellIdle()
  }

  #runs(pass: PassUnderWay): boolean {
    return this.#running.get(pass.id) === pass
  }

  #tellIdle(): void {
    for (const [outlet, resolve] of this.#idleWaiters) if (this.underWay(outlet).length === 0) resolve()
  }
}
