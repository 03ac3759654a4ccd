import { expect, test } from 'vitest'
import { systemClock } from '../../adapters/clock/system.ts'
import { withDeadline } from './with-deadline.ts'

test('an answer that waits to be read behind a busy event loop is in time', async () => {
  // From an immediate, so that the loop runs its timers before it reads the answer.
  const answered = await new Promise<() => Promise<string>>(begun => {
    setImmediate(() => {
      const answer = new Promise<string>(resolve => setImmediate(resolve, 'answer'))
      const result = withDeadline(systemClock, 1, answer)
      begun(() => result)
      const until = performance.now() + 5
      while (performance.now() < until);
    })
  })
  expect(await answered()).toBe('answer')
})

test('without an answer it rejects', async () => {
  await expect(withDeadline(systemClock, 1, new Promise(() => {}))).rejects.toThrow('no answer within 1 ms')
})
