// Seals the signing secrets of webhooks, which the engine must be able to read again: with AES-256-GCM under
// `ENGINE_ENCRYPTION_KEY` where one is set, so that a copy of the database does not reveal them.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { SealedSecret } from '../../domain/model/endpoint.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = 'sealed:v1:'
const PLAIN = 'plain:'

export class Vault {
  /** The first key seals; all of them open, so that a key can be rotated. */
  readonly #keys: readonly Buffer[]

  /** Passphrases may have any length; without one, secrets are stored as they are. */
  constructor(passphrases: readonly string[]) {
    this.#keys = passphrases.map(passphrase => createHash('sha256').update(passphrase, 'utf8').digest())
  }

  seal(secret: string): SealedSecret {
    const [key] = this.#keys
    if (!key) return PLAIN + secret
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, key, iv)
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return SEALED + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** Throws when the secret was sealed under a key that this vault does not have. */
  open(sealed: SealedSecret): string {
    if (sealed.startsWith(PLAIN)) return sealed.slice(PLAIN.length)
    const bytes = bytesOf(sealed)
    for (const key of this.#keys) {
      const secret = unseal(key, bytes)
      if (secret !== undefined) return secret
    }
    throw new Error('a stored secret was sealed under another ENGINE_ENCRYPTION_KEY')
  }

  /** The same secret sealed under the current key, unchanged if it is already. Throws like `open`. */
  reseal(sealed: SealedSecret): SealedSecret {
    const [key] = this.#keys
    const current = key
      ? sealed.startsWith(SEALED) && unseal(key, bytesOf(sealed)) !== undefined
      : sealed.startsWith(PLAIN)
    return current ? sealed : this.seal(this.open(sealed))
  }
}

function bytesOf(sealed: SealedSecret): Buffer {
  return Buffer.from(sealed.slice(SEALED.length), 'base64')
}

function unseal(key: Buffer, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}
