// Reports steps to the engine over HTTP while a pass goes on (docs/wire-protocol.md#checkpoints-over-http). A handler has one
// `HttpReports` for all its passes; the registration says where the engine is.

import { callKeptAlive, type InvokeRequest } from '@perdure/protocol'
import {
  type Checkpointer,
  type CheckpointReceipt,
  type CheckpointReport,
  checkpointPayload,
  UnreportedError,
} from '../pass/checkpoints.ts'

/**
 * A pass that lasts longer ends with its next step, and another one goes on: proxies cut off a request that has no answer for a
 * minute, and the step that runs then would be repeated.
 */
const PASS_MS_MAX = 20_000
/** Longest wait for the answer to one report. */
const ANSWER_MS_MAX = 10_000
/** Waits before a report is sent again. */
const RETRY_MS = [50, 500]
/** How long no pass reports after an engine could not be reached. */
const UNREACHABLE_MS = 10_000

/**
 * By default a pass reports when the engine has stored so many steps of its run. Below it another pass costs less than a report:
 * runs of three steps took 60 % more of the engine's CPU with reports.
 */
export const STORED_STEPS_MIN = 32

/** An engine that takes reports, at its base URL, from passes with at least so many stored steps. */
export interface ReportsTo {
  url: string
  storedStepsMin: number
}

/** The reports of one pass. */
export interface PassReports {
  readonly checkpoint: Checkpointer
  /** Whether further steps may be reported. */
  isOpen(): boolean
  /** Resolves when no report is under way. */
  settled(): Promise<unknown>
}

export class HttpReports {
  #engine: ReportsTo | undefined
  #pausedUntil = Number.NEGATIVE_INFINITY

  /** Undefined: the engine takes none. */
  reachedAt(engine: ReportsTo | undefined): void {
    this.#engine = engine
  }

  /** Returns undefined if the pass cannot report: it then ends with its first step. */
  of({ ctx, steps }: InvokeRequest): PassReports | undefined {
    const { checkpointToken: token } = ctx
    const engine = this.#engine
    if (!engine || typeof token !== 'string' || performance.now() < this.#pausedUntil) return undefined
    if (!hasSteps(steps, engine.storedStepsMin)) return undefined
    const url = `${engine.url}/invokes/${encodeURIComponent(token)}/checkpoints`
    return passReports(url, () => {
      this.#pausedUntil = performance.now() + UNREACHABLE_MS
    })
  }
}

function hasSteps(steps: InvokeRequest['steps'], least: number): boolean {
  let count = 0
  for (const _ in steps) if (++count >= least) return true
  return least === 0
}

function passReports(url: string, onUnreachable: () => void): PassReports {
  const beganAt = performance.now()
  let seq = 0
  let last: Promise<unknown> | undefined
  return {
    checkpoint(report) {
      const receipt = send(url, ++seq, report)
      last = receipt.catch(error => {
        if (error instanceof UnreportedError && error.isUnreachable) onUnreachable()
      })
      return receipt
    },
    isOpen: () => performance.now() - beganAt < PASS_MS_MAX,
    settled: () => Promise.resolve(last),
  }
}

/**
 * Rejects with an UnreportedError without a receipt. The pass then ends with its answer, which nobody reads if the pass is over: an
 * error in its place could fail a run whose engine was only mistaken for gone.
 */
async function send(url: string, seq: number, report: CheckpointReport): Promise<CheckpointReceipt> {
  const body = checkpointPayload(seq, report)
  for (const retryMs of [...RETRY_MS, undefined]) {
    const answer = await post(url, body)
    if (answer?.status === 200) return receiptOf(answer.text)
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429
    if (isFinal)
      throw new UnreportedError(
        `The engine refuses the report of a pass (HTTP ${answer.status})`,
        answer.status === 404,
      )
    if (retryMs === undefined) throw new UnreportedError('The engine cannot be reached for the report of a pass', true)
    await new Promise(resolve => setTimeout(resolve, retryMs))
  }
  throw new UnreportedError('The report of a pass was not sent', false)
}

/** Returns undefined if there is no answer. */
async function post(url: string, body: string): Promise<{ status: number; text: string } | undefined> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('The engine does not answer')), ANSWER_MS_MAX)
  try {
    const { signal } = late
    const answer = await callKeptAlive(url, { method: 'POST', headers: JSON_HEADERS, body, signal, isRepeatable: true })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' }

function receiptOf(text: string): CheckpointReceipt {
  const payload = parse(text)
  if (!Array.isArray(payload?.steps)) throw new UnreportedError('The receipt of a report cannot be read', false)
  return { steps: payload.steps, stop: payload.stop === true }
}

function parse(text: string): Partial<CheckpointReceipt> | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
