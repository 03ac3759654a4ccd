// The text of run tokens (docs/security.md#run-tokens). A token names its run, its end and the key that made it, and is signed
// with a secret that all engines of the store derive from its key. Nothing is stored. Used by services/admin/run-access.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The content of a run token. */
export interface RunGrant {
  namespace: string
  /** The first run of the chain that the token reads. */
  runId: string
  expiresAt: number
  /** The id of the API key that made the token; empty where the engine had no keys. */
  keyId: string
  /** `printOf` that key. A key of the configuration has the same id as the key that replaces it, but not the same print. */
  keyPrint: string
}

/** The beginning of every run token. */
const PREFIX = 'pdt_'
const SECRET_BYTES = 32
/** The part of the HMAC that signs a token. */
const SIGNATURE_BYTES = 24
/** The part of the HMAC that stands for a key. */
const PRINT_BYTES = 12
/** Longer texts are refused before they are parsed. A namespace and two ids take less. */
const TOKEN_CHARS_MAX = 2048
/** The key of the store has other uses too; with this, a token of one use never verifies as a token of another. */
const PURPOSE = 'tokens of runs'
const PRINT_PURPOSE = 'keys behind tokens of runs'

export class RunTokens {
  readonly #secret: Buffer
  readonly #printSecret: Buffer

  /** `key`: the key of the store. */
  constructor(key: string) {
    const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', purpose, SECRET_BYTES))
    this.#secret = derived(PURPOSE)
    this.#printSecret = derived(PRINT_PURPOSE)
  }

  /** Whether the text looks like a run token. */
  static isOne(text: string): boolean {
    return text.startsWith(PREFIX)
  }

  /** A short text that stands for the API key with this hash and kind, and does not reveal them. */
  printOf({ hash, kind }: { hash: string; kind: string }): string {
    return createHmac('sha256', this.#printSecret)
      .update(`${kind} ${hash}`)
      .digest()
      .toString('base64url', 0, PRINT_BYTES)
  }

  tokenOf({ namespace, runId, expiresAt, keyId, keyPrint }: RunGrant): string {
    const content = JSON.stringify([namespace, runId, expiresAt, keyId, keyPrint])
    const head = Buffer.from(content).toString('base64url')
    return `${PREFIX}${head}.${this.#signatureOf(head)}`
  }

  /**
   * Returns the content of the token; undefined if no engine of the store has signed it. Takes the same time wherever the
   * signature differs.
   */
  read(token: string): RunGrant | undefined {
    if (token.length > TOKEN_CHARS_MAX || !RunTokens.isOne(token)) return undefined
    const [head = '', given = '', ...more] = token.slice(PREFIX.length).split('.')
    const [expected, actual] = [Buffer.from(this.#signatureOf(head)), Buffer.from(given)]
    if (more.length > 0 || expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined
    const [namespace, runId, expiresAt, keyId, keyPrint] = JSON.parse(Buffer.from(head, 'base64url').toString())
    return { namespace, runId, expiresAt, keyId, keyPrint }
  }

  #signatureOf(head: string): string {
    return createHmac('sha256', this.#secret).update(head).digest().toString('base64url', 0, SIGNATURE_BYTES)
  }
}
