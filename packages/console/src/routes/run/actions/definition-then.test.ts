import { expect, test } from 'vitest'
import { thenWords } from './definition-then.ts'

const UNKNOWN = 'The engine does not store the rest of that definition.'
const now = { triggers: [{ event: 'order.paid' }, { event: 'user.*', if: 'event.data.ok' }, { cron: '0 3 * * *' }] }

test.each([
  [{ eventName: 'order.paid' }, 'Started by order.paid, still a trigger.'],
  [{ eventName: 'user.left' }, 'Started by user.left, still a trigger.'],
  [{ eventName: 'order.placed' }, 'Started by order.placed, no longer a trigger.'],
  [{ cron: '0 3 * * *' }, 'Started by schedule 0 3 * * *, still a trigger.'],
  [{ cron: '0 4 * * *' }, 'Started by schedule 0 4 * * *, no longer a trigger.'],
  [{ parentRunId: 'run_1' }, 'Started by another run.'],
  [{}, 'Started directly.'],
])('a run shows how it started: %j', (run, sentence) => {
  expect(thenWords({ triggerKind: 'event', ...run }, now)).toEqual([sentence, UNKNOWN])
})
