import { expect, test } from 'vitest'
import { type SentError, stepErrorOf } from './step-error.ts'

const sent = (detail: Partial<SentError>) => stepErrorOf({ message: 'no', ...detail })

test.each<[string, Partial<SentError>]>([
  ['a code that is no text', { code: 14 }],
  ['an empty code', { code: '' }],
  ['a code over its bound', { code: 'x'.repeat(129) }],
  ['fields that are no object', { fields: ['a'] }],
  ['fields that are no scalars', { fields: { a: {}, b: [1] } }],
  ['fields that every error has', { fields: { message: 'x', toString: 'x', __proto__: null, stack: 'x' } }],
  ['a cause that is a text', { cause: 'because' }],
  ['a cause without a message', { cause: { name: 'Error' } }],
])('%s is left out', (_, detail) => {
  expect(sent(detail)).toEqual({ message: 'no' })
})

test('long detail is cut, in a way that a second cut does not change', () => {
  const fields = {
    ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, i])),
    [`k${'x'.repeat(128)}`]: 1,
  }
  const deep = Array.from({ length: 9 }).reduce<object>((cause, _, i) => ({ message: `${9 - i}`, cause }), {
    message: 'end',
  })
  const kept = sent({ fields: { text: 'x'.repeat(5000), ...fields }, cause: deep })
  expect(kept.fields?.text).toHaveLength(1024)
  expect(Object.keys(kept.fields ?? {})).toHaveLength(32)
  expect(JSON.stringify(kept).match(/"cause"/g)).toHaveLength(5)
  expect(stepErrorOf(kept)).toEqual(kept)
})
