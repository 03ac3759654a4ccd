// The middleware of examples/encryption in isolation: what it seals, opens and refuses. `examples.test.ts` runs the whole
// example, which shows that the engine's store contains no plaintext.

import { randomBytes } from 'node:crypto'
import { NonRetriableError } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { encryption, readKeys, type SealingKey } from '../../../examples/encryption/encryption.ts'

const key = (id: string): SealingKey => ({ id, secret: randomBytes(32) })
const [old, current] = [key('old'), key('new')]
const out = { kind: 'step', name: 's' } as const

const seal = (keys: [SealingKey, ...SealingKey[]], value: unknown) =>
  encryption(keys).transformOutput?.(value, out) as { sealed: string }
const open = (keys: [SealingKey, ...SealingKey[]], value: unknown) => encryption(keys).transformInput?.(value, out)

describe('a sealed value', () => {
  test.each([[{ name: 'Ada' }], ['text'], [null], [[1, 2]], [{ sealed: 'mine' }]])('%j comes back as it was', value => {
    const sealed = seal([current], value)
    expect(Object.keys(sealed)).toEqual(['sealed'])
    expect(sealed.sealed).toMatch(/^new\.[A-Za-z0-9+/=]+$/)
    expect(open([current], sealed)).toEqual(value)
  })

  test('differs each time, and shows nothing of its contents', () => {
    expect(seal([current], 'Ada').sealed).not.toBe(seal([current], 'Ada').sealed)
  })

  test('is opened by the key that sealed it, whichever key seals now', () => {
    expect(open([current, old], seal([old], 1))).toBe(1)
    expect(seal([current, old], 1).sealed).toMatch(/^new\./)
  })

  test('is refused without a retry when it was changed', () => {
    const { sealed } = seal([current], 'Ada')
    const bytes = Buffer.from(sealed.slice('new.'.length), 'base64')
    for (const at of [0, 12, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      expect(() => open([current], { sealed: `new.${changed.toString('base64')}` })).toThrow(NonRetriableError)
    }
    expect(() => open([old, { ...current, id: 'other' }], { sealed: sealed.replace('new', 'other') })).toThrow(
      'was changed, or sealed with another',
    )
    expect(() => open([current], { sealed: 'new.AAAA' })).toThrow(NonRetriableError)
  })

  test('waits for a runner that has its key', () => {
    let thrown: unknown
    try {
      open([current], seal([old], 1))
    } catch (error) {
      thrown = error
    }
    expect(thrown).toEqual(new Error('This runner has no key "old"'))
    expect(thrown).not.toBeInstanceOf(NonRetriableError)
  })
})

test('webhooks are sent readable, and unsealed data of others passes unchanged', () => {
  expect(encryption([current]).transformOutput?.('Ada', { kind: 'webhook', name: 'w' })).toBe('Ada')
  expect(open([current], { name: 'Ada' })).toEqual({ name: 'Ada' })
})

test.each([undefined, '', 'a', 'a:AAAA', `:${randomBytes(32).toString('base64')}`])('%s is no list of keys', text => {
  expect(() => readKeys(text)).toThrow('SEALING_KEYS must be a list')
})
