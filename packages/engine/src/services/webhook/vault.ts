// Seals the signing secrets of webhooks, which the engine must be able to read again: with AES-256-GCM under
// `ENGINE_ENCRYPTION_KEY` where one is set, so that a copy of the database does not reveal them. A sealed secret is bound to its
// row: moved to another row, or to another namespace, it does not open.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { SealedSecret } from '../../domain/model/endpoint.ts'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = 'sealed:v2:'
/** The prefix of secrets that an earlier version sealed, not bound to the row. */
const UNBOUND = 'sealed:v1:'
const PLAIN = 'plain:'

/** The row with the secret. */
export interface SecretOwner {
  kind: 'endpoint' | 'receiver'
  namespace: string
  id: string
}

export class Vault {
  /** The first key seals; all of them open, so that a key can be rotated. */
  readonly #keys: readonly Buffer[]

  /** Passphrases may have any length; without one, secrets are stored as they are. */
  constructor(passphrases: readonly string[]) {
    this.#keys = passphrases.map(passphrase => createHash('sha256').update(passphrase, 'utf8').digest())
  }

  /** Whether the vault seals secrets at all. */
  get hasKey(): boolean {
    return this.#keys.length > 0
  }

  seal(secret: string, owner: SecretOwner): SealedSecret {
    const [key] = this.#keys
    if (!key) return PLAIN + secret
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(associated(owner))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return SEALED + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** Throws when the secret was sealed under another key or for another row, or is not sealed although there is a key. */
  open(sealed: SealedSecret, owner: SecretOwner): string {
    if (this.hasKey && !this.isBound(sealed)) throw new Error(unsealed(owner))
    return this.#open(sealed, owner)
  }

  /** Whether the secret is sealed for its row. Once one secret is, all others must be. */
  isBound(sealed: SealedSecret): boolean {
    return sealed.startsWith(SEALED)
  }

  /** The same secret sealed under the current key, unchanged if it already is. Also opens secrets that are not bound to a row. */
  reseal(sealed: SealedSecret, owner: SecretOwner): SealedSecret {
    const [key] = this.#keys
    const current = key ? this.isBound(sealed) && unseal(key, sealed, owner) !== undefined : sealed.startsWith(PLAIN)
    return current ? sealed : this.seal(this.#open(sealed, owner), owner)
  }

  #open(sealed: SealedSecret, owner: SecretOwner): string {
    if (sealed.startsWith(PLAIN)) return sealed.slice(PLAIN.length)
    for (const key of this.#keys) {
      const secret = unseal(key, sealed, owner)
      if (secret !== undefined) return secret
    }
    throw new Error(`the secret of ${nameOf(owner)} was sealed under another ENGINE_ENCRYPTION_KEY, or for another row`)
  }
}

/** The error about an unsealed secret where all secrets must be sealed. */
export function unsealed(owner: SecretOwner): string {
  return (
    `the secret of ${nameOf(owner)} is not sealed, although ENGINE_ENCRYPTION_KEY is set and the others are: another engine ` +
    `runs without the key, or somebody has changed the store. Delete the row from the table webhook_${owner.kind}s`
  )
}

function nameOf({ kind, namespace, id }: SecretOwner): string {
  return `${kind} ${id} (namespace ${namespace})`
}

function associated({ kind, namespace, id }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([kind, namespace, id]), 'utf8')
}

function unseal(key: Buffer, sealed: SealedSecret, owner: SecretOwner): string | undefined {
  const isBound = sealed.startsWith(SEALED)
  const bytes = Buffer.from(sealed.slice((isBound ? SEALED : UNBOUND).length), 'base64')
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    if (isBound) decipher.setAAD(associated(owner))
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}
