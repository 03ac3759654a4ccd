import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type SecretOwner, Vault } from './vault.ts'

const owner: SecretOwner = { kind: 'endpoint', namespace: 'acme', id: 'whe_1' }

/** A secret in the first format: not bound to its row. */
function unbound(secret: string, passphrase: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', createHash('sha256').update(passphrase).digest(), iv)
  const text = Buffer.concat([cipher.update(secret), cipher.final()])
  return `sealed:v1:${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')}`
}

describe('Vault', () => {
  test('opens what it sealed, and shows nothing of it in between', () => {
    const vault = new Vault(['correct horse'])
    const sealed = vault.seal('whsec_ä', owner)
    expect(sealed).not.toContain('whsec')
    expect(vault.open(sealed, owner)).toBe('whsec_ä')
    expect(vault.seal('whsec_ä', owner)).not.toBe(sealed)
  })

  test('opens a secret only in the row that it was sealed for', () => {
    const vault = new Vault(['one'])
    const sealed = vault.seal('s3cret', owner)
    for (const other of [{ kind: 'receiver' }, { namespace: 'other' }, { id: 'whe_2' }] as const) {
      expect(() => vault.open(sealed, { ...owner, ...other })).toThrow('for another row')
      expect(() => vault.reseal(sealed, { ...owner, ...other })).toThrow('for another row')
    }
  })

  test('a rotated key still opens what the one before sealed, and seals anew itself', () => {
    const sealed = new Vault(['old']).seal('s3cret', owner)
    const rotated = new Vault(['new', 'old'])
    expect(rotated.open(sealed, owner)).toBe('s3cret')
    expect(new Vault(['new']).open(rotated.seal('s3cret', owner), owner)).toBe('s3cret')
  })

  test('does not open under another key, or what was tampered with', () => {
    const sealed = new Vault(['one']).seal('s3cret', owner)
    expect(() => new Vault(['two']).open(sealed, owner)).toThrow('ENGINE_ENCRYPTION_KEY')
    expect(() => new Vault([]).open(sealed, owner)).toThrow('ENGINE_ENCRYPTION_KEY')
    const tampered = sealed.slice(0, -4) + (sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    for (const broken of [tampered, 'sealed:v2:', 'sealed:v2:AAAA'])
      expect(() => new Vault(['one']).open(broken, owner)).toThrow('ENGINE_ENCRYPTION_KEY')
  })

  test('seals anew what another key sealed, or none, or without its row, and nothing else', () => {
    const rotated = new Vault(['new', 'old'])
    const current = rotated.seal('s3cret', owner)
    expect(rotated.reseal(current, owner)).toBe(current)
    for (const before of [
      new Vault(['old']).seal('s3cret', owner),
      new Vault([]).seal('s3cret', owner),
      unbound('s3cret', 'old'),
      unbound('s3cret', 'new'),
    ]) {
      const sealed = rotated.reseal(before, owner)
      expect(rotated.isBound(sealed)).toBe(true)
      expect(new Vault(['new']).open(sealed, owner)).toBe('s3cret')
    }
    const plain = new Vault([]).seal('s3cret', owner)
    expect(new Vault([]).reseal(plain, owner)).toBe(plain)
    expect(() => new Vault(['other']).reseal(current, owner)).toThrow('ENGINE_ENCRYPTION_KEY')
    expect(() => new Vault([]).reseal(current, owner)).toThrow('ENGINE_ENCRYPTION_KEY')
  })

  test('with a key refuses what is not sealed for its row, and without one keeps secrets as they are', () => {
    const plain = new Vault([]).seal('s3cret', owner)
    expect(new Vault([]).open(plain, owner)).toBe('s3cret')
    for (const before of [plain, unbound('s3cret', 'later')])
      expect(() => new Vault(['later']).open(before, owner)).toThrow(
        'the secret of endpoint whe_1 (namespace acme) is not sealed',
      )
  })
})
