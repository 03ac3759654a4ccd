// Checks that an engine with one of the runner's keys signed a request, for this runner
// (docs/wire-protocol.md#check-the-signature). Called by the handler.

import {
  isAddressed,
  knows,
  type RegisterReply,
  recipientOf,
  SIGNATURE_HEADER,
  SIGNATURE_WINDOW_MS,
  signedAt,
  verifyBody,
  verifyFor,
} from '@perdure/protocol'

/** Why a request is refused. This does not fail the run: it waits until the two sides agree, or goes to another runner. */
interface Refusal {
  readonly status: 401 | 503
  readonly message: string
}

interface SignedRequest {
  rawBody: string | Uint8Array
  signature: string | undefined
}

const SHARED = 'ENGINE_SIGNING_KEY must be the same on both sides'
const MISDIRECTED: Refusal = {
  status: 503,
  message: 'The request is signed for a different runner: every runner id needs its own url',
}
const DOWNGRADED: Refusal = {
  status: 503,
  message: `The ${SIGNATURE_HEADER} has no v2, though engine and runner have negotiated it`,
}

export class SignatureCheck {
  readonly #app: string
  readonly #keys: readonly string[]
  /**
   * The names of this runner in signatures, one per registration of this process. If there is none, another process has
   * registered the runner.
   */
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

  /** Notes that an engine has acknowledged a registration. The newest counts: engines of several versions may share a store. */
  acknowledged({ features }: Pick<RegisterReply, 'features'>): void {
    this.#hasNegotiated = knows(features, 'signature-v2')
  }

  /** Returns why the request is refused; undefined if it is accepted. */
  refusalOf({ rawBody: body, signature: header }: SignedRequest): Refusal | undefined {
    const signed = { keys: this.#keys, body, header, nowMs: Date.now() }
    if (!isAddressed(header))
      return verifyBody(signed) ? undefined : { status: 401, message: problemOf(signed, verifyBody) }
    const recipient = recipientOfInvoke(signed)
    if (recipient === undefined)
      return { status: 401, message: problemOf(signed, one => recipientOfInvoke(one) !== undefined) }
    return this.#recipients.size > 0 && !this.#recipients.has(recipient) ? MISDIRECTED : undefined
  }

  /**
   * Returns why an invoke with an accepted signature is still refused: it has only a `v1`, although its engine can do more and
   * has acknowledged that this runner can too. An engine of an earlier version names no features.
   */
  downgradeOf(body: unknown, signature: string | undefined): Refusal | undefined {
    if (!this.#hasNegotiated || isAddressed(signature)) return undefined
    const features = (body as { ctx?: { features?: unknown } } | null)?.ctx?.features
    return knows(features, 'signature-v2') ? DOWNGRADED : undefined
  }
}

type Signed = Parameters<typeof verifyBody>[0]

function recipientOfInvoke(signed: Signed): string | undefined {
  return verifyFor({ ...signed, purpose: 'invoke' })
}

/** Returns why a signature does not count: there is none, the clocks differ, or the keys differ. */
function problemOf(signed: Signed, verify: (signed: Signed) => boolean): string {
  const at = signedAt(signed.header)
  if (at === undefined)
    return `The request is not signed: the engine has no signing key, or something removes ${SIGNATURE_HEADER} (${SHARED})`
  if (!verify({ ...signed, nowMs: at }))
    return `The request is signed with none of this runner's keys, or was changed in transit (${SHARED})`
  const offS = Math.round(Math.abs(signed.nowMs - at) / 1000)
  const max = SIGNATURE_WINDOW_MS / 1000
  return `The clocks differ: the timestamp of the signature is ${offS} s off this runner's clock, and at most ${max} s are allowed: synchronize the clocks`
}
