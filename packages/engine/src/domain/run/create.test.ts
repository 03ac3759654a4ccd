import { expect, it } from 'vitest'
import type { Run } from '../model/run.ts'
import { DAY, NOW, run } from '../testkit/nouns.testkit.ts'
import { earliestId } from '../text/ids.ts'
import { childRun, eventRun, onFailureRun } from './create.ts'
import { DEFAULT_RETRY } from './retry.ts'

const event = {
  namespace: 'default',
  id: 'evt_1',
  name: 'order.placed',
  source: 'api' as const,
  receivedAt: NOW - DAY,
  woke: 0,
  triggered: [],
}
const workflow = {
  namespace: 'default',
  app: 'shop',
  name: 'order',
  triggers: [],
  retry: DEFAULT_RETRY,
  onFailure: false,
  updatedAt: NOW,
}

it.each<[string, Run]>([
  ['an event', eventRun({ event, workflow })],
  [
    'a parent',
    childRun({
      parent: run(),
      step: { id: 's', index: 0 },
      app: 'a',
      workflow: 'w',
      input: '1',
      now: NOW,
      under: { workflow: undefined },
    }),
  ],
  ['a failure', onFailureRun(run(), { message: 'no' }, NOW)],
])('the id of a run that %s started begins with its time, by which runs are listed', (_, made) => {
  expect(made.id.startsWith(earliestId('run', made.createdAt))).toBe(true)
})
