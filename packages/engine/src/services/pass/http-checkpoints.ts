// The passes whose runners report their steps over HTTP while the pass continues (docs/wire-protocol.md#checkpoints-over-http).
// The invoker opens each of them with its token, and http/routes/run/pass-checkpoints.ts brings the reports. If a report
// arrives at another engine of the store, that engine forwards it to this one (forwarded-checkpoints.ts).

import { TransientMap } from '../../base/transient-map.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import type { PassName, PassTokens } from '../support/pass-tokens.ts'
import type { AskedPass } from './another-pass.ts'
import type { Taken } from './checkpoint.ts'

/** Maximum reports of one pass that wait to be stored: a runner usually sends the next report after the receipt of the last. */
const WAITING_OF_PASS_MAX = 16
/** Maximum reports of one namespace that wait at this engine. */
const WAITING_OF_NAMESPACE_MAX = 1000

/** Maximum length of a body that requests another pass. */
const AGAIN_CHARS_MAX = 200

/** A pass that accepts reports, as the invoker opens it. */
export interface ReportingPass {
  runId: string
  namespace: string
  /** Makes a report durable. */
  take(payload: string): Promise<Taken>
  /** Called when a report comes, and when it is durable: the deadline of the invoke starts again. */
  onReport(): void
  /** Ends the invoke, because nothing of the pass counts any more. */
  abort(): void
}

/** An opened pass, as the invoke uses it. */
export interface OpenedPass {
  token: string
  url: string
  /** The pass is over: its token is void from now on. */
  close(): void
}

export interface HttpCheckpointsDeps {
  tokens: PassTokens
  /** This engine's name on the bus. */
  owner: string
  /** The URL at which runners reach the engine, without a slash at its end. */
  baseUrl(): string
  /** Resolves to the receipt from the engine that sent the pass. Absent where no other engine can be reached. */
  forward?: ((pass: PassName, payload: string) => Promise<string>) | undefined
  /** Gives a run another pass, whichever engine had the last one. */
  again(asked: AskedPass): Promise<void>
  /** Whether other engines work on the store too. */
  isShared: boolean
}

interface Entry extends ReportingPass {
  waiting: number
}

export class HttpCheckpoints {
  readonly #deps: HttpCheckpointsDeps
  readonly #passes = new TransientMap<number, Entry>()
  /** Reports that wait, by namespace. An absent entry is 0. */
  readonly #waiting = new Map<string, number>()
  #count = 0

  constructor(deps: HttpCheckpointsDeps) {
    this.#deps = deps
  }

  open(pass: ReportingPass): OpenedPass {
    const { tokens, owner, baseUrl } = this.#deps
    const no = ++this.#count
    this.#passes.set(no, { ...pass, waiting: 0 })
    const token = tokens.tokenOf({ engine: owner, no, runId: pass.runId })
    return { token, url: `${baseUrl()}/invokes/${token}/checkpoints`, close: () => this.#passes.delete(no) }
  }

  /**
   * Resolves to the receipt when the report is durable.
   * @throws EngineError `not_found` for a token that is forged, `gone` when its pass is over, `invalid_request` for an
   * unreadable report, `rate_limited` when too many wait, `unavailable` when the engine of the pass does not answer.
   */
  async receive(token: string, payload: string): Promise<string> {
    const { tokens, owner, forward, isShared } = this.#deps
    const pass = tokens.read(token)
    if (!pass) throw new EngineError('not_found', 'no such token')
    const asked = readAgain(payload)
    if (asked) return this.#again({ ...asked, runId: pass.runId })
    if (pass.engine === owner) return this.receiveHere(pass.no, payload)
    if (forward) return forward(pass, payload)
    if (isShared) throw new EngineError('unavailable', 'the engine that drives the run cannot be reached from this one')
    // A single engine with another name is the successor of the engine that sent the pass.
    throw passIsOver()
  }

  /**
   * Gives the run another pass for a token that has outlived its pass: the token proves that an engine of the store sent the
   * run to this runner.
   */
  async #again(asked: AskedPass): Promise<string> {
    await this.#deps.again(asked)
    return '{"again":true}'
  }

  /** The same for a pass of this engine, by its number. */
  async receiveHere(no: number, payload: string): Promise<string> {
    const pass = this.#passes.get(no)
    if (!pass) throw passIsOver()
    this.#enter(pass)
    try {
      pass.onReport()
      const taken = await pass.take(payload)
      if (taken.kind === 'unreadable') throw new EngineError('invalid_request', taken.problem)
      if (taken.kind === 'stored') {
        pass.onReport()
        return taken.ack
      }
      if (this.#passes.get(no) === pass) pass.abort()
      throw passIsOver()
    } finally {
      this.#leave(pass)
    }
  }

  #enter(pass: Entry): void {
    const { namespace } = pass
    const waiting = this.#waiting.get(namespace) ?? 0
    if (pass.waiting >= WAITING_OF_PASS_MAX) throw tooMany(`${WAITING_OF_PASS_MAX} checkpoints of the pass`)
    if (waiting >= WAITING_OF_NAMESPACE_MAX) throw tooMany(`${WAITING_OF_NAMESPACE_MAX} checkpoints of the namespace`)
    pass.waiting++
    this.#waiting.set(namespace, waiting + 1)
  }

  #leave(pass: Entry): void {
    const { namespace } = pass
    pass.waiting--
    const waiting = (this.#waiting.get(namespace) ?? 1) - 1
    if (waiting === 0) this.#waiting.delete(namespace)
    else this.#waiting.set(namespace, waiting)
  }
}

/** The request for another pass, if the body is one. */
function readAgain(payload: string): Pick<AskedPass, 'settled'> | undefined {
  if (payload.length > AGAIN_CHARS_MAX || !payload.includes('"again"')) return undefined
  const { again, settled } = (parse(payload) ?? {}) as { again?: unknown; settled?: unknown }
  if (again !== true) return undefined
  if (settled === undefined || (Number.isSafeInteger(settled) && (settled as number) >= 0))
    return { settled: settled as number | undefined }
  throw invalid('settled', 'must be an integer from 0')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function passIsOver(): EngineError {
  return new EngineError('gone', 'the pass is over')
}

function tooMany(what: string): EngineError {
  return new EngineError('rate_limited', `${what} wait to be stored, the maximum`)
}
