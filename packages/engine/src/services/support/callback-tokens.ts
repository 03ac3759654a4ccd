// The tokens of callbacks (docs/wire-protocol.md#callbacks). Each run has a key, derived from the key of the store, so every
// engine of the store knows it without a read. The runner derives the token of each callback from that key. Used by the
// invoker, which sends the key, and by services/run/callbacks, which verifies tokens.

import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto'

/** A callback: the run, and the hashed id of its step. */
export interface CallbackName {
  namespace: string
  runId: string
  stepId: string
}

/** 192 bits of the hash: the part that is not shown keeps others from extending it. */
const KEY_BYTES = 24
const PURPOSE = 'callbacks of runs'
/** A namespace contains no space. */
const SEPARATOR = ' '

export class CallbackTokens {
  readonly #secret: string

  /** `key`: the key of the store. */
  constructor(key: string) {
    this.#secret = Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 32)).toString('base64url')
  }

  /** The key of the run's callbacks. It is useless for other runs. */
  keyOf(namespace: string, runId: string): string {
    const digest = hash('sha256', `${this.#secret}.${headOf(namespace, runId)}`, 'buffer')
    return digest.toString('base64url', 0, KEY_BYTES)
  }

  /** The beginning of every token of the run. */
  prefixOf(namespace: string, runId: string): string {
    return `${headOf(namespace, runId)}.`
  }

  /** Returns the callback of the token; undefined if the token is not valid. Takes the same time wherever the token differs. */
  read(token: string): CallbackName | undefined {
    const [, head, stepId, given] = /^([\w-]+)\.(.+)\.([0-9a-f]+)$/.exec(token) ?? []
    if (head === undefined || stepId === undefined || given === undefined) return undefined
    const [namespace = '', ...rest] = Buffer.from(head, 'base64url').toString().split(SEPARATOR)
    const runId = rest.join(SEPARATOR)
    // Other spellings of the same bytes would be other tokens, each with its own rate limit.
    if (headOf(namespace, runId) !== head) return undefined
    const expected = Buffer.from(signatureOf(this.keyOf(namespace, runId), stepId))
    const actual = Buffer.from(given)
    if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined
    return { namespace, runId, stepId }
  }
}

function headOf(namespace: string, runId: string): string {
  return Buffer.from(`${namespace}${SEPARATOR}${runId}`).toString('base64url')
}

/** The signature, computed as the runner does. */
function signatureOf(key: string, stepId: string): string {
  return createHmac('sha256', key).update(stepId).digest('hex')
}
