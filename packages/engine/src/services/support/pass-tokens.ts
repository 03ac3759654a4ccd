// The tokens with which a runner reports to one pass over HTTP (docs/wire-protocol.md#checkpoints-over-http). A token names its
// pass and is signed with a secret of this pass. All engines of the store derive that secret from the store's key, so a forged
// token is refused without a lookup. Used by http-checkpoints.ts.

import { hash, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The pass that a token stands for. */
export interface PassName {
  /** The engine that sent it, by its name on the bus. */
  engine: string
  /** Its number among the passes of that engine that had a token. */
  no: number
  runId: string
}

const SECRET_BYTES = 24
/** 192 bits of the hash, as base64url. */
const SIGNATURE_CHARS = 32
/** The maximum length of an engine's name in a token, more than any name has: a block is derived from 1,024 bytes at most. */
const ENGINE_BYTES_MAX = 500
/** Secrets derived in one call. An HMAC for each pass would leave a native object, which is expensive to collect. */
const BLOCK = 64
/** Maximum blocks in memory: passes of this engine use the newest, and reports come for a few other passes. */
const BLOCKS_MAX = 8
/** Separates these secrets from secrets of other kinds that the store's key may derive later. */
const PURPOSE = 'checkpoints of a pass'

export class PassTokens {
  readonly #key: string
  /** Secrets of consecutive passes, by engine and number of the block; the oldest block is the first. */
  readonly #blocks = new Map<string, Buffer>()

  /** `key`: the key of the store. */
  constructor(key: string) {
    this.#key = key
  }

  tokenOf({ engine, no, runId }: PassName): string {
    const head = Buffer.from(`${engine} ${no} ${runId}`).toString('base64url')
    return `${head}.${this.#signatureOf(head, { engine, no })}`
  }

  /** Returns the pass of the token; undefined if no engine of the store has made the token. */
  read(token: string): PassName | undefined {
    const head = token.slice(0, Math.max(0, token.indexOf('.')))
    const given = token.slice(head.length + 1)
    const [engine = '', number = '', runId = ''] = Buffer.from(head, 'base64url').toString().split(' ')
    const no = Number(number)
    if (!Number.isSafeInteger(no) || no < 0 || Buffer.byteLength(engine) > ENGINE_BYTES_MAX) return undefined
    const [expected, actual] = [Buffer.from(this.#signatureOf(head, { engine, no })), Buffer.from(given)]
    if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined
    return { engine, no, runId }
  }

  /** A secret signs a single head, and only a part of the hash is shown, so nobody can extend it. */
  #signatureOf(head: string, { engine, no }: Pick<PassName, 'engine' | 'no'>): string {
    const at = (no % BLOCK) * SECRET_BYTES
    const secret = this.#blockOf(`${engine} ${Math.floor(no / BLOCK)}`).toString('base64url', at, at + SECRET_BYTES)
    return hash('sha256', `${secret}.${head}`, 'base64url').slice(0, SIGNATURE_CHARS)
  }

  #blockOf(name: string): Buffer {
    let block = this.#blocks.get(name)
    if (block) return block
    block = Buffer.from(hkdfSync('sha256', this.#key, '', `${PURPOSE} ${name}`, BLOCK * SECRET_BYTES))
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size >= BLOCKS_MAX && oldest !== undefined) this.#blocks.delete(oldest)
    this.#blocks.set(name, block)
    return block
  }
}
