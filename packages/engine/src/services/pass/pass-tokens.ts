// The tokens by which a runner reports to one pass over HTTP (docs/wire-protocol.md#checkpoints-over-http). A token names its
// pass and is signed with a key that all engines of the store have, so a forged one is refused without looking anything up.
// Used by http-checkpoints.ts.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** The pass that a token stands for. */
export interface PassName {
  /** The engine that sent it, by its name on the bus. */
  engine: string
  /** Its number among the passes of that engine that had a token. */
  no: number
  runId: string
}

/** 192 bits of the HMAC-SHA256. */
const SIGNATURE_BYTES = 24
/** The key of the store may sign tokens of other kinds later: those of this kind have a key of their own. */
const PURPOSE = 'checkpoints of a pass'

export class PassTokens {
  readonly #key: Buffer

  /** `secret`: the key of the store. */
  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update(PURPOSE).digest()
  }

  tokenOf({ engine, no, runId }: PassName): string {
    return this.#signed(Buffer.from(`${engine} ${no} ${runId}`).toString('base64url'))
  }

  /** Undefined for a token that no engine of the store has made. */
  read(token: string): PassName | undefined {
    const head = token.slice(0, Math.max(0, token.indexOf('.')))
    const [given, expected] = [Buffer.from(token), Buffer.from(this.#signed(head))]
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    const [engine, no, runId] = Buffer.from(head, 'base64url').toString().split(' ') as [string, string, string]
    return { engine, no: Number(no), runId }
  }

  #signed(head: string): string {
    const digest = createHmac('sha256', this.#key).update(head).digest()
    return `${head}.${digest.subarray(0, SIGNATURE_BYTES).toString('base64url')}`
  }
}
