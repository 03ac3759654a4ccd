import { expect, it } from 'vitest'
import { orderedStack } from './stack.ts'

const error = { name: 'TypeError', message: 'no card\nof acct-17' }

it('has the frames of own code first, without the message', () => {
  const stack =
    'TypeError: no card\nof acct-17\n    at x (node:net:1:2)\n    at pay (/app/pay.ts:3:4)\n    at y (/app/node_modules/z/z.js:5:6)'
  expect(orderedStack({ ...error, stack })).toEqual({
    own: ['at pay (/app/pay.ts:3:4)'],
    others: ['at x (node:net:1:2)', 'at y (/app/node_modules/z/z.js:5:6)'],
  })
})

it('has nothing where the stack repeats the message alone', () => {
  for (const stack of ['TypeError: no card\nof acct-17', 'no card\nof acct-17\n'])
    expect(orderedStack({ ...error, stack })).toEqual({ own: [], others: [] })
})

it('is as it is in languages that write other frames', () => {
  const stack = 'Traceback (most recent call last):\n  File "pay.py", line 3'
  expect(orderedStack({ ...error, stack })).toEqual({ own: stack.split('\n'), others: [] })
})
