import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import type { RunUpdate } from '../../domain/view/run-updates.ts'
import { Live, type ProgressMove } from '../../services/live/live.ts'
import { type Selection, TopicGroups } from './topic-groups.ts'

function setUp() {
  const clock = new VirtualClock()
  const live = new Live()
  let encoded = 0
  const named = (id: string) => {
    encoded++
    return `${id} `
  }
  const encoders = {
    run: ({ runId, seq }: RunUpdate) => named(`${runId}:${seq}`),
    progress: ({ runId, value }: ProgressMove) => named(`${runId}=${value}`),
    event: ({ id }: { id: string }) => named(id),
    delivery: ({ id }: { id: string }) => named(id),
  }
  const groups = new TopicGroups({ live, clock, encoders })
  const join = (selection: Partial<Selection> = {}) => {
    const reader = { text: '', offer: (bytes: Buffer) => (reader.text += bytes), leave: () => {} }
    reader.leave = groups.join({ namespace: 'here', topics: ['runs'], everyMs: 250, ...selection }, reader)
    return reader
  }
  const publish = (runId: string, seq: number, fields: Partial<RunUpdate> = {}) =>
    live.updates.publish('here', {
      ...{ runId, seq, workflow: 'w', app: 'shop', ts: 0, status: 'running', attempt: 1 },
      ...fields,
    })
  return { clock, live, join, publish, encoded: () => encoded }
}

test('of each run the last state in an interval is sent, encoded once for all filters and readers', async () => {
  const { clock, join, publish, encoded } = setUp()
  const readers = [join(), join(), join({ app: 'shop' }), join({ workflow: 'w', everyMs: 500 })]
  publish('run_0', 1)
  for (let seq = 1; seq <= 100; seq++) for (const id of ['run_1', 'run_2']) publish(id, seq)
  await clock.advance(500)
  for (const { text } of readers) expect(text).toBe('run_0:1 run_1:100 run_2:100 ')
  expect(encoded()).toBe(3)
})

test('filters narrow, and nothing is left when the readers are gone', async () => {
  const { clock, live, join, publish } = setUp()
  const [ours, theirs] = [join({ app: 'shop', workflow: 'v' }), join({ app: 'bank' })]
  publish('run_1', 1)
  publish('run_2', 1, { workflow: 'v' })
  publish('run_3', 1, { app: 'bank' })
  await clock.advance(250)
  expect([ours.text, theirs.text]).toEqual(['run_2:1 ', 'run_3:1 '])
  for (const { leave } of [ours, theirs]) leave()
  expect([live.updates.has('here'), clock.timerCount]).toEqual([false, 0])
})

test('after a gap every stream of topics gets a frame that says so', async () => {
  const { clock, live, join, publish } = setUp()
  const [runs, events, none] = [join(), join({ topics: ['events'] }), join({ topics: [] })]
  live.gap()
  live.gap()
  publish('run_1', 1)
  await clock.advance(250)
  const gap = `event: gap\ndata: {"kind":"gap","ts":"${new Date(clock.now() - 250).toISOString()}"}\n\n`
  expect([runs.text, events.text, none.text]).toEqual([`${gap}${gap}run_1:1 `, `${gap}${gap}`, ''])
})
