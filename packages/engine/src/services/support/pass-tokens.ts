// The tokens by which a runner reports to one pass over HTTP (docs/wire-protocol.md#checkpoints-over-http). A token names its
// pass and is signed with a secret of this pass, which all engines of the store derive from its key, so a forged one is refused
// without looking anything up. Used by http-checkpoints.ts.

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
/** More than any engine has in its name: a block is derived of 1,024 bytes at most. */
const ENGINE_BYTES_MAX = 500
/** Secrets derived in one call. An HMAC for each pass would leave a native object, which is expensive to collect. */
const BLOCK = 64
/** Blocks in memory: the own passes use the newest, and reports come for a few others. */
const BLOCKS_MAX = 8
/** The key of the store may derive secrets of other kinds later: those of this kind have a purpose of their own. */
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

  /** Undefined for a token that no engine of the store has made. */
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

  /** A secret signs one head alone, and only a part of the hash is shown: nobody can go on from there. */
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
