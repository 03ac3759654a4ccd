// Checks that an engine with one of the runner's keys signed a request, for this runner
// (docs/wire-protocol.md#check-the-signature). Called by the handler.

import {
  isAddressed,
  type RegisterReply,
  recipientOf,
  SIGNATURE_FEATURE,
  SIGNATURE_HEADER,
  verifyBody,
  verifyFor,
} from '@perdure/protocol'

/** Why a request is refused. With a 503 the engine repeats the pass, with another runner or under another signature. */
interface Refusal {
  readonly status: 401 | 503
  readonly message: string
}

interface SignedRequest {
  rawBody: string | Uint8Array
  signature: string | undefined
}

const SHARED = 'ENGINE_SIGNING_KEY must be the same on both sides'
const UNSIGNED: Refusal = {
  status: 401,
  message: `The signature of the request is missing, wrong or too old (${SHARED})`,
}
const MISDIRECTED: Refusal = {
  status: 503,
  message: 'The request is signed for another runner than this one: every runner id needs a url of its own',
}
const DOWNGRADED: Refusal = {
  status: 503,
  message: `The ${SIGNATURE_HEADER} has no v2, though engine and runner have negotiated it`,
}

export class SignatureCheck {
  readonly #app: string
  readonly #keys: readonly string[]
  /** Names this runner in signatures, for each registration of this process. Without any, another process has registered the runner. */
  readonly #recipients = new Set<string>()
  #hasNegotiated = false

  constructor(app: string, keys: readonly string[]) {
    this.#app = app
    this.#keys = keys
  }

  /** The runner is registered under this id. */
  registersAs(runnerId: string): void {
    this.#recipients.add(recipientOf(this.#app, runnerId))
  }

  /** An engine has acknowledged a registration. The newest counts: engines of several versions may share a store. */
  acknowledged({ features }: Pick<RegisterReply, 'features'>): void {
    this.#hasNegotiated = features?.includes(SIGNATURE_FEATURE) ?? false
  }

  /** Returns why the request is refused; undefined if it is not. */
  refusalOf({ rawBody: body, signature: header }: SignedRequest): Refusal | undefined {
    const signed = { keys: this.#keys, body, header, nowMs: Date.now() }
    if (!isAddressed(header)) return verifyBody(signed) ? undefined : UNSIGNED
    const recipient = verifyFor({ ...signed, purpose: 'invoke' })
    if (recipient === undefined) return UNSIGNED
    return this.#recipients.size > 0 && !this.#recipients.has(recipient) ? MISDIRECTED : undefined
  }

  /**
   * Returns why an invoke with an accepted signature is refused all the same: it has only a `v1`, its engine can do more,
   * and has acknowledged that this runner can. An engine of an earlier version names no features.
   */
  downgradeOf(body: unknown, signature: string | undefined): Refusal | undefined {
    if (!this.#hasNegotiated || isAddressed(signature)) return undefined
    const features = (body as { ctx?: { features?: unknown } } | null)?.ctx?.features
    return Array.isArray(features) && features.includes(SIGNATURE_FEATURE) ? DOWNGRADED : undefined
  }
}
