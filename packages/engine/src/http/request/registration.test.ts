import { describe, expect, test } from 'vitest'
import { EngineError } from '../../domain/model/errors.ts'
import { checkRegistration } from './registration.ts'

const base = { app: 'shop', url: 'http://127.0.0.1:3000/api', workflows: [{ name: 'checkout' }] }

function outcome(fields: object): string {
  try {
    checkRegistration({ ...base, ...fields })
    return 'accepted'
  } catch (error) {
    return error instanceof EngineError ? `${error.code}: ${error.message}` : String(error)
  }
}

describe('a registration', () => {
  test.each<[string, object]>([
    ['of the least', {}],
    ['of version 1', { protocolVersion: 1 }],
    ['with empty metadata', { region: '', version: '', runtime: '' }],
    [
      'with triggers',
      {
        workflows: [{ name: 'w', triggers: [{ event: 'a.*', if: 'event.data.x\n> 1' }, { cron: '* * * * *' }] }],
      },
    ],
    ['without triggers', { workflows: [{ name: 'w', triggers: [] }] }],
  ])('%s is accepted', (_, fields) => {
    expect(outcome(fields)).toBe('accepted')
  })

  test.each<[object, string]>([
    [{ protocolVersion: 0 }, 'protocol_mismatch: protocolVersion must be 1, or absent'],
    [{ protocolVersion: null }, 'protocol_mismatch: protocolVersion must be 1, or absent'],
    [{ keyFingerprint: 'a key' }, 'invalid_request: keyFingerprint must match pattern "^[0-9a-fA-F]{16}$"'],
    [{ app: ' ' }, 'invalid_request: app must not be blank'],
    [{ app: 'a'.repeat(129) }, 'invalid_request: app must not have more than 128 characters'],
    [{ runner: '\t' }, 'invalid_request: runner must not have control characters or lone surrogates'],
    [{ runner: '' }, 'invalid_request: runner must not have fewer than 1 characters'],
    [{ region: 'eu\u0000' }, 'invalid_request: region must not have control characters or lone surrogates'],
    [{ url: undefined }, 'invalid_request: url must be string'],
    [{ url: 'runner' }, 'invalid_request: url must be an http or https URL'],
    [{ url: 'javascript:alert(1)' }, 'invalid_request: url must be an http or https URL'],
    [{ url: 'conn://runner' }, 'invalid_request: url must be an http or https URL'],
    [{ url: 'ht\ntp://runner' }, 'invalid_request: url must not have control characters or lone surrogates'],
    [{ url: 'http://u:p@runner' }, 'invalid_request: url must not carry credentials'],
    [{ workflows: [{}] }, 'invalid_request: workflows[0].name is required'],
    [{ workflows: [{ name: 'a' }, { name: ' ' }] }, 'invalid_request: workflows[1].name must not be blank'],
    [
      { workflows: [{ name: 'a\u0000' }] },
      'invalid_request: workflows[0].name must not have control characters or lone surrogates',
    ],
    [
      { workflows: [{ name: 'a', triggers: [{ event: 'e' }, {}] }] },
      'invalid_request: workflows[0].triggers[1] must have either event or cron',
    ],
    [
      { workflows: [{ name: 'a', triggers: [{ event: 'e', cron: '* * * * *' }] }] },
      'invalid_request: workflows[0].triggers[0] must have either event or cron',
    ],
    [
      { workflows: [{ name: 'a', triggers: [{ event: ' ' }] }] },
      'invalid_request: workflows[0].triggers[0].event must not be blank',
    ],
    [
      { workflows: new Array(1001).fill({ name: 'a' }) },
      'invalid_request: workflows must not have more than 1000 items',
    ],
  ])('%.200j is refused', (fields, message) => {
    expect(outcome(fields)).toBe(message)
  })
})
