// Reports steps to the engine over HTTP while a pass goes on (docs/wire-protocol.md#checkpoints-over-http). A handler has one
// `HttpReports` for all its passes; the registration says where the engine is.

import { setTimeout as delay } from 'node:timers/promises'
import { callAnyEngine, type EngineList, type InvokeRequest } from '@perdure/protocol'
import {
  type Checkpointer,
  type CheckpointReceipt,
  type CheckpointReport,
  checkpointPayload,
  UnreportedError,
} from '../pass/checkpoints.ts'
import type { RunningReporter } from '../pass/running-steps.ts'
import type { AskForPass } from '../replay/late-handler.ts'

/**
 * A pass that lasts longer ends with its next step, and another one goes on: proxies cut off a request that has no answer for a
 * minute, and the step that runs then would be repeated.
 */
const PASS_MS_MAX = 20_000
/** Longest wait for the answer to one report. */
const ANSWER_MS_MAX = 10_000
/** A callback that runs for longer is reported to the engine: each notice is a request. */
const RUNNING_AFTER_MS = 2_000
/** Waits before a report is sent again. */
const RETRY_MS = [50, 500]
/** Waits before a request for another pass is repeated, and how often: for half an hour. */
const ASK_MS_MIN = 250
const ASK_MS_MAX = 30_000
const ASKS_MAX = 65
/** Requests for another pass that wait for an answer at a time. */
const ASKING_MAX = 1_000
/** How long no pass reports after an engine could not be reached. */
const UNREACHABLE_MS = 10_000

/**
 * By default a pass reports when the engine has stored so many steps of its run. Below it another pass costs less than a report:
 * runs of three steps took 60 % more of the engine's CPU with reports.
 */
export const STORED_STEPS_MIN = 32

/**
 * The engines, any of which takes reports, from passes with at least so many stored steps. Without a number they only give runs
 * another pass.
 */
export interface ReportsTo {
  engines: EngineList
  storedStepsMin: number | undefined
}

/** Where the reports of a pass go. */
interface Destination {
  engines: EngineList
  token: string
}

export class HttpReports {
  #engine: ReportsTo | undefined
  #pausedUntil = Number.NEGATIVE_INFINITY
  #asking = 0

  /** Undefined: the engine takes none. */
  reachedAt(engine: ReportsTo | undefined): void {
    this.#engine = engine
  }

  /** Returns undefined if the pass cannot report. */
  of({ ctx, steps }: InvokeRequest): PassReports | undefined {
    const { checkpointToken: token } = ctx
    const engine = this.#engine
    if (engine?.storedStepsMin === undefined || typeof token !== 'string') return undefined
    if (performance.now() < this.#pausedUntil) return undefined
    return new PassReports(this, {
      engines: engine.engines,
      token,
      hasCheckpoints: hasSteps(steps, engine.storedStepsMin),
    })
  }

  /** Asks for another pass of a run by the token of its last one, until an engine has answered. */
  readonly ask: AskForPass = async ({ ctx: { checkpointToken: token }, settled }) => {
    const engines = this.#engine?.engines
    if (!engines || typeof token !== 'string' || this.#asking >= ASKING_MAX) return false
    this.#asking++
    const isGranted = await askUntilGranted({ engines, token }, `{"again":true,"settled":${settled}}`)
    this.#asking--
    return isGranted
  }

  /** No engine could be reached: the next passes report nothing. */
  pause(): void {
    this.#pausedUntil = performance.now() + UNREACHABLE_MS
  }
}

async function askUntilGranted(to: Destination, body: string): Promise<boolean> {
  for (let tries = 1, ms = ASK_MS_MIN; ; tries++, ms = Math.min(ASK_MS_MAX, 2 * ms)) {
    const answer = await post(to, body)
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429
    // A refusal gives no pass.
    if (isFinal) return answer.status === 200
    if (tries === ASKS_MAX) return false
    await delay(ms, undefined, { ref: false })
  }
}

function hasSteps(steps: InvokeRequest['steps'], least: number): boolean {
  let count = 0
  for (const _ in steps) if (++count >= least) return true
  return least === 0
}

/** The reports of one pass, made for each: what a pass that reports nothing does not need is made later. */
class PassReports implements RunningReporter {
  readonly afterMs = RUNNING_AFTER_MS
  /** Absent if the run has too few stored steps: the pass then ends with its first step. */
  readonly checkpoint: Checkpointer | undefined
  readonly #reports: HttpReports
  readonly #to: Destination
  readonly #beganAt = performance.now()
  #seq = 0
  #last: Promise<unknown> | undefined

  constructor(reports: HttpReports, { engines, token, hasCheckpoints }: Destination & { hasCheckpoints: boolean }) {
    this.#reports = reports
    this.#to = { engines, token }
    this.checkpoint = hasCheckpoints ? report => this.#send(report) : undefined
  }

  tell(fields: string): void {
    void post(this.#to, checkpointPayload(++this.#seq, { opcodes: '[]', logs: '[]', fields }))
  }

  /** Whether further steps may be reported. */
  get isOpen(): boolean {
    return performance.now() - this.#beganAt < PASS_MS_MAX
  }

  /** Resolves when no report is under way; undefined if there was none. */
  get settled(): Promise<unknown> | undefined {
    return this.#last
  }

  #send(report: CheckpointReport): Promise<CheckpointReceipt> {
    const receipt = send(this.#to, ++this.#seq, report)
    this.#last = receipt.catch(error => {
      if (error instanceof UnreportedError && error.isUnreachable) this.#reports.pause()
    })
    return receipt
  }
}

/**
 * Rejects with an UnreportedError without a receipt. The pass then ends with its answer, which nobody reads if the pass is over: an
 * error in its place could fail a run whose engine was only mistaken for gone.
 */
async function send(to: Destination, seq: number, report: CheckpointReport): Promise<CheckpointReceipt> {
  const body = checkpointPayload(seq, report)
  for (const retryMs of [...RETRY_MS, undefined]) {
    const answer = await post(to, body)
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
async function post(
  { engines, token }: Destination,
  body: string,
): Promise<{ status: number; text: string } | undefined> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('The engine does not answer')), ANSWER_MS_MAX)
  try {
    const headers = { 'content-type': 'application/json' }
    const path = `/invokes/${encodeURIComponent(token)}/checkpoints`
    const call = { path, method: 'POST', headers, body, signal: late.signal, isRepeatable: true }
    return await callAnyEngine(engines, { ...call, timeoutMs: ANSWER_MS_MAX })
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

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
