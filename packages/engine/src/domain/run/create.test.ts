import { expect, it } from 'vitest'
import type { Run } from '../model/run.ts'
import { DAY, NOW, run } from '../testkit/nouns.testkit.ts'
import { earliestId } from '../text/ids.ts'
import { childRun, eventRun, linkRun, onFailureRun } from './create.ts'
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

it('keeps every budget over the links of a chain, and gives a child the outermost 32', () => {
  const budgets = Array.from({ length: 33 }, (_, n) => ({ id: n === 32 ? 'run_1' : `run_above${n}` }))
  const deep = run({ id: 'run_1', budgets })
  const under = { workflow: undefined }
  expect(linkRun(deep, { input: undefined, now: NOW, under }).budgets).toEqual(budgets)
  const child = childRun({
    parent: deep,
    step: { id: 's', index: 0 },
    app: 'shop',
    workflow: 'pack',
    input: undefined,
    now: NOW,
    under,
  })
  expect(child.budgets).toEqual(budgets.slice(0, 32))
})
