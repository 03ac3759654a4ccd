import { expect, test } from 'vitest'
import { veiledText } from './veil-json.ts'

test.each([
  [
    '{"email":"ada@example.com","age":36,"admin":false,"note":null}',
    '{"email":string(15),"age":number,"admin":boolean,"note":null}',
  ],
  ['["a",[1,{"b":[]}],{}]', '[string(1),[number,{"b":[]}],{}]'],
  ['"4711"', 'string(4)'],
  ['not JSON', 'string(8)'],
])('%s is %s', (text, shape) => {
  expect(veiledText(text)).toBe(shape)
})

test('a deep value does not overflow the stack', () => {
  expect(veiledText(`${'['.repeat(100_000)}7${']'.repeat(100_000)}`)).toContain('number')
})
