// Another engine of the store, which sends no passes: it accepts reports of runners for the engines that do, over a bus that
// loses, repeats and reorders messages.

import { LoopbackNetwork } from '../../../packages/engine/src/adapters/bus/loopback.testkit.ts'
import { EngineError } from '../../../packages/engine/src/domain/model/errors.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { ForwardedCheckpoints } from '../../../packages/engine/src/services/pass/forwarded-checkpoints.ts'
import { HttpCheckpoints } from '../../../packages/engine/src/services/pass/http-checkpoints.ts'
import { PassTokens } from '../../../packages/engine/src/services/support/pass-tokens.ts'
import type { SimClock } from '../core/sim-clock.ts'
import { never } from './life.ts'

export interface ReportAnswer {
  status: number
  text: string
}

/** Posts a report to the engine in service. Undefined: no engine answers. */
type Post = (token: string, payload: string) => Promise<ReportAnswer | undefined>

interface GatewayOptions {
  clock: SimClock
  seed: number
  store: Store
  post: Post
}

const NAME = 'gateway'
const FAULTS = { lost: 0.2, repeated: 0.2, delayMsMax: 400 }
const REFUSALS = { gone: 410, not_found: 404, invalid_request: 400, rate_limited: 429, unavailable: 503 } as const
type Refusal = keyof typeof REFUSALS

export class Gateway {
  readonly #options: GatewayOptions
  readonly #network: LoopbackNetwork
  readonly #tokens: PassTokens
  readonly #checkpoints: HttpCheckpoints
  /** Engines to which reports were forwarded. */
  readonly #known = new Set<string>()

  private constructor(
    options: GatewayOptions,
    parts: { network: LoopbackNetwork; tokens: PassTokens; forwarded: ForwardedCheckpoints },
  ) {
    const { network, tokens, forwarded } = parts
    this.#options = options
    this.#network = network
    this.#tokens = tokens
    const forward = forwarded.forward.bind(forwarded)
    const again = async () => {}
    this.#checkpoints = new HttpCheckpoints({ tokens, owner: NAME, forward, again, isShared: true, baseUrl: () => '' })
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const { clock, seed, store } = options
    const network = new LoopbackNetwork(clock, seed)
    network.faults = FAULTS
    const loads = { loadRun: (runId: string) => clock.activity.during(store.loadRun(runId)) }
    const bus = await network.open(NAME)
    const forwarded = new ForwardedCheckpoints({ bus, clock, store: loads, receiveHere: () => never() })
    return new Gateway(options, { network, tokens: new PassTokens(await store.tokenKey()), forwarded })
  }

  async receive(token: string, payload: string): Promise<ReportAnswer> {
    await this.#know(token)
    try {
      return { status: 200, text: await this.#checkpoints.receive(token, payload) }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      return { status: REFUSALS[error.code as Refusal] ?? 500, text: error.message }
    } finally {
      this.#options.clock.activity.sign()
    }
  }

  /** Puts the engine of the token on the bus, with its side of the forwarding. */
  async #know(token: string): Promise<void> {
    const engine = this.#tokens.read(token)?.engine
    if (engine === undefined || this.#known.has(engine)) return
    this.#known.add(engine)
    const { clock, store } = this.#options
    const receiveHere = (no: number, payload: string) => this.#receiveThere({ engine, no, runId: '' }, payload)
    new ForwardedCheckpoints({ bus: await this.#network.open(engine), clock, store, receiveHere })
  }

  async #receiveThere(pass: Parameters<PassTokens['tokenOf']>[0], payload: string): Promise<string> {
    const answer = await this.#options.post(this.#tokens.tokenOf(pass), payload)
    if (!answer) return never()
    if (answer.status === 200) return answer.text
    const [code = 'unavailable'] = (Object.keys(REFUSALS) as Refusal[]).filter(one => REFUSALS[one] === answer.status)
    throw new EngineError(code, answer.text)
  }
}
