// Definitions in words.

import { expect, test } from 'vitest'
import { definitionWords } from './definition-words.ts'

const retry = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 }
const plain = { triggers: [{ event: 'order.placed' }], retry, onFailure: false }

test('a definition is told in sentences, and a policy that it does not have is not mentioned', () => {
  expect(definitionWords(plain)).toEqual([
    'It starts on order.placed.',
    'A step is tried 5 times: the first wait is 1 s, each next one 2 times as long, up to 5 min.',
  ])
  const flowControl = {
    concurrency: [
      { limit: 5, key: 'event.data.userId', scope: 'workflow' },
      { limit: 1, scope: 'namespace' },
    ],
    throttle: { limit: 10, periodMs: 60_000, burst: 1 },
    timeouts: { runMs: 3_600_000 },
    cancelOn: [{ event: 'order.cancelled', if: 'async.data.id == event.data.id' }],
    priority: 'event.data.rank',
  }
  const triggers = [{ event: 'a', if: 'event.data.n > 1' }, { cron: '0 9 * * *' }]
  const words = definitionWords({
    ...plain,
    triggers,
    retry: { ...retry, maxAttempts: 1 },
    flowControl,
    whenExhausted: 'pause',
  })
  expect(words).toEqual([
    'It starts on a if event.data.n > 1, or on every day at 09:00.',
    'At most 5 runs are active at once per event.data.userId.',
    'At most 1 run is active at once, over the whole namespace.',
    'At most 10 runs start in 1 min; others wait.',
    'It fails when it has not ended after 1 h.',
    'The event order.cancelled cancels it if async.data.id == event.data.id.',
    'Its priority is event.data.rank.',
    'A step that fails is not tried again.',
    'A run that has spent its tries pauses, until somebody resumes it.',
  ])
})
