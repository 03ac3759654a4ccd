// Reports steps to the engine over HTTP while a pass continues (docs/wire-protocol.md#checkpoints-over-http). A handler has one
// `HttpReports` for all its passes; the registration says where the engine is.

import { setTimeout as delay } from 'node:timers/promises'
import { parseJson } from '@perdure/client/internal'
import { EngineList, type InvokeRequest } from '@perdure/protocol'
import {
  type Checkpointer,
  type CheckpointReceipt,
  type CheckpointReport,
  checkpointPayload,
  UnreportedError,
} from '../pass/checkpoints.ts'
import type { RunningReporter } from '../pass/running-steps.ts'
import type { AskForPass } from '../replay/late-handler.ts'
import type { OutletOf } from '../stream/outlet.ts'
import { httpStreams } from './http-streams.ts'
import { type PassAtEngine, postToPass } from './post-to-pass.ts'

/**
 * A pass that lasts longer ends with its next step, and another one continues: proxies cut off a request that has no answer for a
 * minute, and the step that runs then would be repeated.
 */
const PASS_MS_MAX = 20_000
/** A callback that runs for longer is reported to the engine. Each notice is a request. */
const RUNNING_AFTER_MS = 2_000
/** Delays before a report is sent again. */
const RETRY_MS = [50, 500]
/** Delays before a request for another pass is repeated, and the number of repeats: half an hour in total. */
const ASK_MS_MIN = 250
const ASK_MS_MAX = 30_000
const ASKS_MAX = 65
/** Maximum number of requests for another pass that wait for an answer. */
const ASKING_MAX = 1_000
/** How long no pass reports after the engine could not be reached. */
const UNREACHABLE_MS = 10_000

/**
 * By default a pass reports once the engine has stored this many steps of its run. Below that, another pass costs less than a
 * report: runs of three steps took 60 % more of the engine's CPU with reports.
 */
export const STORED_STEPS_MIN = 32

/**
 * The engines, any of which accepts reports, from passes with at least this many stored steps. Without a number they only give
 * runs another pass.
 */
export interface ReportsTo {
  engines: EngineList
  storedStepsMin: number | undefined
}

export class HttpReports {
  #engine: ReportsTo | undefined
  #pausedUntil = Number.NEGATIVE_INFINITY
  #asking = 0

  /** Sets the engine. Undefined: no engine accepts reports. */
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

  /** Asks for another pass of a run with the token of its last pass, until an engine has answered. */
  readonly ask: AskForPass = async ({ ctx: { checkpointToken: token }, settled }) => {
    const engines = this.#engine?.engines
    if (!engines || typeof token !== 'string' || this.#asking >= ASKING_MAX) return false
    this.#asking++
    const isGranted = await askUntilGranted({ engines, token }, `{"again":true,"settled":${settled}}`)
    this.#asking--
    return isGranted
  }

  /**
   * Returns the outlet of a pass that has a token. A process that has not registered, such as a new instance of a function, uses
   * the URL in the invoke.
   */
  readonly streams: OutletOf = ({ checkpointToken: token, checkpointUrl }) => {
    if (typeof token !== 'string') return undefined
    const engines = this.#engine?.engines ?? engineOf(checkpointUrl, token)
    return engines && httpStreams((route, body) => postToPass({ engines, token }, route, body))
  }

  /** Called when no engine could be reached: the next passes report nothing. */
  pause(): void {
    this.#pausedUntil = performance.now() + UNREACHABLE_MS
  }
}

/** Returns the engine that has this route for the checkpoints of a pass. */
function engineOf(checkpointUrl: unknown, token: string): EngineList | undefined {
  const end = `/invokes/${encodeURIComponent(token)}/checkpoints`
  if (typeof checkpointUrl !== 'string' || !checkpointUrl.endsWith(end)) return undefined
  try {
    return EngineList.of([checkpointUrl.slice(0, -end.length)])
  } catch {
    return undefined
  }
}

async function askUntilGranted(to: PassAtEngine, body: string): Promise<boolean> {
  for (let tries = 1, ms = ASK_MS_MIN; ; tries++, ms = Math.min(ASK_MS_MAX, 2 * ms)) {
    const answer = await postToPass(to, 'checkpoints', body)
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429
    // A refusal brings no pass.
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

/** The reports of one pass. Most passes report nothing, so everything they do not need is created later. */
class PassReports implements RunningReporter {
  readonly afterMs = RUNNING_AFTER_MS
  /** Absent if the run has too few stored steps: the pass then ends with its first step. */
  readonly checkpoint: Checkpointer | undefined
  readonly #reports: HttpReports
  readonly #to: PassAtEngine
  readonly #beganAt = performance.now()
  #seq = 0
  /** Resolves when no report is under way; undefined if there was none. */
  settled: Promise<unknown> | undefined

  constructor(reports: HttpReports, { engines, token, hasCheckpoints }: PassAtEngine & { hasCheckpoints: boolean }) {
    this.#reports = reports
    this.#to = { engines, token }
    this.checkpoint = hasCheckpoints ? report => this.#send(report) : undefined
  }

  tell(fields: string): void {
    const notice = checkpointPayload(++this.#seq, { opcodes: '[]', logs: '[]', fields })
    void postToPass(this.#to, 'checkpoints', notice)
  }

  /** Whether further steps may be reported. */
  get isOpen(): boolean {
    return performance.now() - this.#beganAt < PASS_MS_MAX
  }

  #send(report: CheckpointReport): Promise<CheckpointReceipt> {
    const receipt = send(this.#to, ++this.#seq, report)
    this.settled = receipt.catch(error => {
      if (error instanceof UnreportedError && error.isUnreachable) this.#reports.pause()
    })
    return receipt
  }
}

/**
 * Rejects with an UnreportedError if there is no receipt. The pass then ends with its answer, which nobody reads if the pass is
 * over: an error instead could fail a run whose engine only seemed to be gone.
 */
async function send(to: PassAtEngine, seq: number, report: CheckpointReport): Promise<CheckpointReceipt> {
  const body = checkpointPayload(seq, report)
  for (let tries = 0; ; tries++) {
    const answer = await postToPass(to, 'checkpoints', body)
    if (answer?.status === 200) return receiptOf(answer.text)
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429
    if (isFinal)
      throw new UnreportedError(
        `The engine refuses the report of a pass (HTTP ${answer.status})`,
        answer.status === 404,
      )
    const retryMs = RETRY_MS[tries]
    if (retryMs === undefined) throw new UnreportedError('The engine cannot be reached for the report of a pass', true)
    await new Promise(resolve => setTimeout(resolve, retryMs))
  }
}

function receiptOf(text: string): CheckpointReceipt {
  const payload = parseJson(text) as Partial<CheckpointReceipt> | null | undefined
  if (!Array.isArray(payload?.steps)) throw new UnreportedError('The receipt of a report cannot be read', false)
  return { steps: payload.steps, stop: payload.stop === true }
}
