// Which appends to an output stream, and acknowledgements, the schemas accept.

import Value from 'typebox/value'
import { expect, it } from 'vitest'
import { STREAM_APPEND_CHUNKS_MAX } from './bounds.ts'
import { StreamAckSchema, StreamAppendSchema } from './stream-schema.ts'

const append = { stepId: 'ba7816bf', step: 'ask:2', name: 'answer', seq: 1, chunks: ['a', null, { any: [1] }] }

it('an append and its acknowledgement may have further members', () => {
  expect(Value.Check(StreamAppendSchema, { ...append, unknown: true })).toBe(true)
  const ack = { stepId: 'ba7816bf', name: 'answer', seq: 1, unknown: true }
  expect(Value.Check(StreamAckSchema, ack)).toBe(true)
  expect(Value.Check(StreamAckSchema, { ...ack, error: { code: 'gone', message: 'The pass is over' } })).toBe(true)
})

it.each([
  { name: '' },
  { name: 'a b' },
  { name: '..' },
  { name: 'a'.repeat(65) },
  { seq: 0 },
  { seq: 1.5 },
  { chunks: [] },
  { chunks: Array(STREAM_APPEND_CHUNKS_MAX + 1).fill(0) },
  { stepId: '' },
  { step: '' },
])('refuses %o', change => {
  expect(Value.Check(StreamAppendSchema, { ...append, ...change })).toBe(false)
})
