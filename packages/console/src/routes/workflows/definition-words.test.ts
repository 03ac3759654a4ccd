// Definitions in words.

import { expect, test } from 'vitest'
import { definitionWords, triggerWords } from './definition-words.ts'

const retry = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 }
const plain = { triggers: [{ event: 'order.placed' }], retry, onFailure: false }

test('a definition is told in sentences, and a policy that it does not have is not mentioned', () => {
  expect(definitionWords(plain)).toEqual([
    'It starts on order.placed.',
    'A step is tried up to 5 times: the first retry follows after 1 s, then the delay keeps doubling up to 5 min.',
  ])
  const flowControl = {
    concurrency: [
      { limit: 5, key: 'event.data.userId', scope: 'workflow' },
      { limit: 1, scope: 'namespace', hold: 'run' },
    ],
    fairness: { key: 'event.data.tenant', weight: 'event.data.plan == "pro" ? 3 : 1' },
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
    retention: { succeeded: 3_600_000, cancelled: 86_400_000 },
    budget: { usd: 5, runs: 50, whenExceeded: 'fail' },
  })
  expect(words).toEqual([
    'It starts on a if event.data.n > 1, or every day at 09:00 (UTC).',
    'At most 5 runs are active at once per event.data.userId.',
    'At most 1 run is active at once, over the whole namespace; a run keeps its slot until it ends.',
    'Runs that wait take turns by event.data.tenant, each key with the weight event.data.plan == "pro" ? 3 : 1.',
    'At most 10 runs start in 1 min, with a burst of 1 more after idle time; others wait.',
    'A run fails if it has not ended after 1 h.',
    'The event order.cancelled cancels it if async.data.id == event.data.id.',
    'The run priority is event.data.rank.',
    'Failed steps are not retried.',
    'When all retries fail, a run is paused until it is resumed.',
    'A run and its descendants may spend 5 usd, 50 runs; beyond that each fails.',
    'Runs that succeeded are deleted after 1 h.',
    'Runs that were cancelled are deleted after 1 d.',
  ])
})

test.each([
  ['0 9 * * *', 'It starts every day at 09:00 (UTC).'],
  ['TZ=Europe/Berlin 0 9 * * 1-5', 'It starts on Monday to Friday at 09:00 (Europe/Berlin).'],
  ['30 8 1 * *', 'It starts on day 1 of the month at 08:30 (UTC).'],
  ['TZ=Europe/Berlin */7 3-5 1,15 * 2', 'It starts by the cron */7 3-5 1,15 * 2 (Europe/Berlin).'],
])('the cron %s says when it starts', (cron, sentence) => {
  expect(definitionWords({ ...plain, triggers: [{ cron }] })[0]).toBe(sentence)
})

test('a workflow without a trigger says who starts it; a trigger of a list is shorter', () => {
  expect(definitionWords({ ...plain, triggers: [] })[0]).toBe('It is started only by other workflows or by hand.')
  expect(triggerWords({ cron: 'TZ=Europe/Berlin 0 9 * * 1-5' })).toBe('Monday to Friday at 09:00 (Europe/Berlin)')
  expect(triggerWords({ cron: '1 2 3 4 5' })).toBe('1 2 3 4 5 (UTC)')
  expect(triggerWords({ event: 'a', if: 'event.data.n > 1' })).toBe('a if event.data.n > 1')
  expect(triggerWords({ event: 'a', match: { 'data.plan': 'pro' } })).toBe('a with data.plan = "pro"')
})

test.each<[Record<string, unknown>, string]>([
  [{ concurrency: [{ limit: 1, scope: 'workflow' }] }, 'At most 1 run is active at once.'],
  [
    { concurrency: [{ limit: 50, key: 'event.data.user', scope: 'app' }] },
    'At most 50 runs are active at once per event.data.user, over the whole app.',
  ],
  [{ throttle: { limit: 1, periodMs: 3_600_000, burst: 0 } }, 'At most 1 run starts in 1 h; others wait.'],
  [
    { throttle: { limit: 10, periodMs: 60_000, burst: 5, key: 'event.data.user' } },
    'At most 10 runs start in 1 min per event.data.user, with a burst of 5 more after idle time; others wait.',
  ],
  [{ rateLimit: { limit: 1, periodMs: 60_000 } }, 'At most 1 run starts in 1 min; further events start no runs.'],
  [
    { rateLimit: { limit: 5, periodMs: 60_000, key: 'event.data.user' } },
    'At most 5 runs start in 1 min per event.data.user; further events start no runs.',
  ],
  [{ debounce: { periodMs: 5000, mode: 'last' } }, 'Events within 5 s of each other become one run.'],
  [
    { debounce: { periodMs: 5000, mode: 'first' } },
    'Events within 5 s of each other become one run, with the data of the first.',
  ],
  [
    { debounce: { periodMs: 5000, mode: 'all' } },
    'Events within 5 s of each other become one run, with the data of all.',
  ],
  [
    { debounce: { periodMs: 5000, timeoutMs: 60_000, key: 'event.data.page' } },
    'Events within 5 s of each other become one run per event.data.page, at the latest 1 min after the first.',
  ],
  [
    { batch: { maxSize: 100, timeoutMs: 10_000, key: 'event.data.host' } },
    'Up to 100 events, or those within 10 s, become one run per event.data.host.',
  ],
  [{ singleton: { mode: 'skip' } }, 'While a run is active, events start no other run.'],
  [
    { singleton: { mode: 'cancel', key: 'event.data.user' } },
    'A new run cancels the previous one per event.data.user.',
  ],
  [
    { idempotency: { key: 'event.data.orderId', ttlMs: 86_400_000 } },
    'Each event.data.orderId starts one run within 1 d.',
  ],
  [
    { timeouts: { queueMs: 600_000, runMs: 3_600_000, invokeMs: 60_000 } },
    'A run fails if it has not started after 10 min. A run fails if it has not ended after 1 h. A pass fails without a response after 1 min.',
  ],
  [{ cancelOn: [{ event: 'order.cancelled' }] }, 'The event order.cancelled cancels it.'],
  [
    { cancelOn: [{ event: 'order.lost', match: ['data.id', 'data.line'], timeoutMs: 60_000 }] },
    'The event order.lost cancels it with the same data.id, data.line, up to 1 min after its creation.',
  ],
])('the policy %o is one sentence', (flowControl, sentence) => {
  const [, ...words] = definitionWords({ ...plain, flowControl })
  expect(words.slice(0, -1)).toEqual([sentence])
})

test.each([
  [{ maxAttempts: 1 }, 'Failed steps are not retried.'],
  [{ maxAttempts: 2 }, 'A step is tried up to 2 times, 1 s apart.'],
  [{ maxAttempts: 4, factor: 1 }, 'A step is tried up to 4 times, 1 s apart.'],
  [
    { maxAttempts: 3, initialMs: 400, factor: 1.5 },
    'A step is tried up to 3 times: the first retry follows after 400 ms, then the delay keeps growing 1.5-fold up to 5 min.',
  ],
])('the retries %o are one sentence', (given, sentence) => {
  expect(definitionWords({ ...plain, retry: { ...retry, ...given } }).at(-1)).toBe(sentence)
})

test.each([
  [1, 'A pass that fails outside its steps is not retried.'],
  [4, 'A pass that fails outside its steps is tried up to 4 times.'],
])('%d pass retries are one sentence', (handlerRetries, sentence) => {
  expect(definitionWords({ ...plain, handlerRetries }).at(-1)).toBe(sentence)
})

test('a handler of failures is mentioned, and a policy of a newer engine is not', () => {
  const words = definitionWords({ ...plain, onFailure: true, flowControl: { later: { limit: 1 } } as never })
  expect(words).toEqual([...definitionWords(plain), 'Has an on-failure handler.'])
})
