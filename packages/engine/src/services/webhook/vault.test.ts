import { describe, expect, test } from 'vitest'
import { Vault } from './vault.ts'

describe('Vault', () => {
  test('opens what it sealed, and shows nothing of it in between', () => {
    const vault = new Vault(['correct horse'])
    const sealed = vault.seal('whsec_ä')
    expect(sealed).not.toContain('whsec')
    expect(vault.open(sealed)).toBe('whsec_ä')
    expect(vault.seal('whsec_ä')).not.toBe(sealed)
  })

  test('a rotated key still opens what the one before sealed, and seals anew itself', () => {
    const sealed = new Vault(['old']).seal('s3cret')
    const rotated = new Vault(['new', 'old'])
    expect(rotated.open(sealed)).toBe('s3cret')
    expect(new Vault(['new']).open(rotated.seal('s3cret'))).toBe('s3cret')
  })

  test('does not open under another key, or what was tampered with', () => {
    const sealed = new Vault(['one']).seal('s3cret')
    expect(() => new Vault(['two']).open(sealed)).toThrow('ENGINE_ENCRYPTION_KEY')
    expect(() => new Vault([]).open(sealed)).toThrow('ENGINE_ENCRYPTION_KEY')
    const tampered = sealed.slice(0, -4) + (sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    expect(() => new Vault(['one']).open(tampered)).toThrow('ENGINE_ENCRYPTION_KEY')
  })

  test('seals anew what another key sealed, or none, and nothing else', () => {
    const rotated = new Vault(['new', 'old'])
    const current = rotated.seal('s3cret')
    expect(rotated.reseal(current)).toBe(current)
    for (const before of [new Vault(['old']), new Vault([])]) {
      const sealed = rotated.reseal(before.seal('s3cret'))
      expect(new Vault(['new']).open(sealed)).toBe('s3cret')
    }
    const plain = new Vault([]).seal('s3cret')
    expect(new Vault([]).reseal(plain)).toBe(plain)
    expect(() => new Vault(['other']).reseal(current)).toThrow('ENGINE_ENCRYPTION_KEY')
    expect(() => new Vault([]).reseal(current)).toThrow('ENGINE_ENCRYPTION_KEY')
  })

  test('without a key keeps secrets as they are, and opens them still once there is one', () => {
    expect(new Vault(['later']).open(new Vault([]).seal('s3cret'))).toBe('s3cret')
  })
})
