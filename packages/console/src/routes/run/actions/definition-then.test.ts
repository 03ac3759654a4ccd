import { expect, test } from 'vitest'
import { thenWords } from './definition-then.ts'

const UNKNOWN = 'The engine does not keep the rest of that definition.'
const now = { triggers: [{ event: 'order.paid' }, { event: 'user.*', if: 'event.data.ok' }, { cron: '0 3 * * *' }] }

test.each([
  [{ eventName: 'order.paid' }, 'It started on order.paid, as now.'],
  [{ eventName: 'user.left' }, 'It started on user.left, as now.'],
  [{ eventName: 'order.placed' }, 'It started on order.placed, which is no trigger any more.'],
  [{ cron: '0 3 * * *' }, 'It started on the schedule 0 3 * * *, as now.'],
  [{ cron: '0 4 * * *' }, 'It started on the schedule 0 4 * * *, which is no trigger any more.'],
  [{ parentRunId: 'run_1' }, 'Another run started it.'],
  [{}, 'It was started directly.'],
])('a run shows how it started: %j', (run, sentence) => {
  expect(thenWords({ triggerKind: 'event', ...run }, now)).toEqual([sentence, UNKNOWN])
})
