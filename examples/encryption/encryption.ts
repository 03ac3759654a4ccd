// A middleware that encrypts every value on its way to the engine and decrypts it on its way back, with AES-256-GCM and
// keys that can be rotated. The engine stores, lists and forwards values that it cannot read.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type Middleware, NonRetriableError } from 'perdure'

export interface SealingKey {
  /** Stored with each encrypted value, so that the key can be found again. Must not contain a dot. */
  readonly id: string
  /** The key itself, 32 bytes. */
  readonly secret: Buffer
}

/** `{sealed: "<key id>.<iv, tag and ciphertext>"}` */
interface Sealed {
  readonly sealed: string
}

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates the middleware. The first key encrypts, and every key decrypts. To rotate keys, put the new key first, and
 * remove the old one when no run needs it.
 */
export function encryption(keys: readonly [SealingKey, ...SealingKey[]]): Middleware {
  return {
    name: 'encryption',
    // The receiver of a webhook does not have the key.
    transformOutput: (value, { kind }) => (kind === 'webhook' ? value : seal(keys[0], value)),
    // Events of a schedule, a webhook receiver or curl are not encrypted.
    transformInput: value => (isSealed(value) ? open(keys, value) : value),
  }
}

/** Parses keys from a text such as `"2027:<base64> 2026:<base64>"`, the newest first. Throws for an invalid key. */
export function readKeys(text = ''): [SealingKey, ...SealingKey[]] {
  const keys = text.split(' ').map(one => {
    const [id = '', secret = ''] = one.split(':')
    return { id, secret: Buffer.from(secret, 'base64') }
  })
  const [first, ...others] = keys
  if (!first || keys.some(({ id, secret }) => id === '' || id.includes('.') || secret.length !== 32)) {
    throw new Error('SEALING_KEYS must be a list of id:base64, each key of 32 bytes')
  }
  return [first, ...others]
}

function seal({ id, secret }: SealingKey, value: unknown): Sealed {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', secret, iv).setAAD(Buffer.from(id))
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return { sealed: `${id}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')}` }
}

function open(keys: readonly SealingKey[], { sealed }: Sealed): unknown {
  const [id = '', content = ''] = sealed.split('.')
  const key = keys.find(one => one.id === id)
  // This error is retriable, so the run continues when a runner has the key.
  if (!key) throw new Error(`This runner has no key "${id}"`)
  const bytes = Buffer.from(content, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.secret, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
    return JSON.parse(text.toString('utf8'))
  } catch (cause) {
    throw new NonRetriableError(`A value sealed with key "${id}" was changed, or sealed with another`, {
      cause,
    })
  }
}

function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && 'sealed' in value && typeof value.sealed === 'string'
}
