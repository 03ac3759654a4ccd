// The reducer of the messages of an output stream (docs/streams.md#messages).

import { expect, test } from 'vitest'
import { applyStreamMessages, EMPTY_STREAM, type RunStreamMessage, type RunStreamState, textOf } from './messages.ts'

const after = (messages: RunStreamMessage<string>[], state: RunStreamState<string> = EMPTY_STREAM) =>
  applyStreamMessages(state, messages)
const numbers = ({ chunks }: RunStreamState) => chunks.map(({ n }) => n)

const BEGUN: RunStreamMessage<string>[] = [
  { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
  { n: 1, chunk: 'lo' },
  { n: 2, chunk: 'row', step: 'import', attempt: 2 },
]

test('a chunk has the step and the attempt of the message before it, also of one in the batch before', () => {
  const state = after([{ n: 3, chunk: 'rows' }], after(BEGUN))
  expect(state.chunks).toEqual([
    { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
    { n: 1, chunk: 'lo', step: 'ask', attempt: 1 },
    { n: 2, chunk: 'row', step: 'import', attempt: 2 },
    { n: 3, chunk: 'rows', step: 'import', attempt: 2 },
  ])
  expect(state).toMatchObject({ next: 4, step: 'import', attempt: 2 })
})

test('a rollback withdraws the chunks of its step from its number on, and names the step of what follows', () => {
  const state = after([
    ...BEGUN,
    { n: 3, rollback: 1, step: 'ask', attempt: 1, reason: 'failed' },
    { n: 4, chunk: 'p' },
  ])
  expect(numbers(state)).toEqual([0, 2, 4])
  expect(state.chunks.at(-1)).toMatchObject({ step: 'ask', attempt: 1 })
  expect(numbers(after([{ n: 5, rollback: 0, step: 'ask', attempt: 1, reason: 'lost' }], state))).toEqual([2])
})

test('messages that are there already change nothing, but for the names of those after them', () => {
  const state = after(BEGUN)
  expect(after(BEGUN.slice(1), state)).toBe(state)
  const again = after(
    [
      { n: 2, chunk: 'row', step: 'import', attempt: 2 },
      { n: 3, chunk: 'rows' },
    ],
    after(BEGUN.slice(0, 2)),
  )
  const twice = after([...BEGUN, { n: 3, chunk: 'rows' }], state)
  expect([numbers(again), numbers(twice)]).toEqual([
    [0, 1, 2, 3],
    [0, 1, 2, 3],
  ])
  expect(twice.chunks).toEqual(again.chunks)
})

test('the end is kept, and a state is not changed by what comes after it', () => {
  const state = after(BEGUN)
  const ended = after([{ n: 3, end: 'succeeded' }], state)
  expect([state.end, ended.end, ended.next]).toEqual([undefined, 'succeeded', 4])
  expect(numbers(state)).toEqual([0, 1, 2])
})

test('the text joins the string chunks', () => {
  const mixed = applyStreamMessages<unknown>(EMPTY_STREAM, [
    ...BEGUN,
    { n: 3, chunk: { tool: 'search' } },
    { n: 4, chunk: '!' },
  ])
  expect(textOf(mixed)).toBe('Hellorow!')
  expect(textOf(EMPTY_STREAM)).toBe('')
})
