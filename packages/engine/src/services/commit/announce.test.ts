import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { MemoryQueue } from '../../adapters/queue/memory.ts'
import type { Change, RunStatusFrame } from '../../domain/model/change.ts'
import { firstSeq } from '../../domain/model/seq.ts'
import type { StepWoken } from '../../domain/model/step.ts'
import { NOW, run } from '../../domain/testkit/nouns.testkit.ts'
import type { Reads, RunStatusNow } from '../../ports/store-reads.ts'
import { Live, type RunMove } from '../live/live.ts'
import { Announcer, WOKEN_READS_MAX } from './announce.ts'

const clock = new VirtualClock({ start: NOW })
const queuedFrame: RunStatusFrame = { seq: firstSeq(4) + 1, ts: NOW, status: 'queued', attempt: 1 }
const theRun = run({ id: 'run_1', namespace: 'here' })
const NAMES = { workflow: theRun.workflow, app: theRun.app }
const moved = (frames: RunStatusFrame[]): Change => ({ type: 'run.moved', run: theRun, frames })
const woken: StepWoken = { type: 'step.woken', runId: 'run_1', stepIndex: 0, status: 'succeeded', at: NOW }
const event: Change = {
  type: 'event.recorded',
  event: {
    namespace: 'here',
    id: 'evt_1',
    name: 'go',
    source: 'api',
    receivedAt: NOW,
    woke: 1,
    triggered: [],
  },
}

/** An announcer on a store that answers when the test allows it, with the test's data. */
function setUp() {
  const live = new Live()
  const reads: string[] = []
  const answers: ((frame: RunStatusNow | undefined) => void)[] = []
  const failures: ((error: Error) => void)[] = []
  const status = (runId: string) =>
    new Promise<RunStatusNow | undefined>((resolve, reject) => {
      reads.push(runId)
      answers.push(resolve)
      failures.push(reject)
    })
  const store = { in: () => ({ status }) as Partial<Reads> as Reads }
  const announcer = new Announcer({ queue: new MemoryQueue(clock), live, store })
  const heard: RunMove[] = []
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const answer = async (frame: RunStatusFrame | undefined) => {
    answers.shift()?.(frame && { ...NAMES, ...frame })
    await settle()
  }
  const fail = async () => {
    failures.shift()?.(new Error('disk gone'))
    await settle()
  }
  const follow = (namespace = 'here') => live.moves.on(namespace, move => heard.push(move))
  return { announcer, live, heard, reads, answer, fail, follow }
}

test('listeners of a namespace get its status changes and events, and no others', () => {
  const { announcer, live, heard, follow } = setUp()
  follow('elsewhere')
  const events: string[] = []
  live.events.on('here', ({ id }) => events.push(id))
  live.events.on('elsewhere', ({ id }) => events.push(`wrong ${id}`))
  announcer.announce([event, moved([queuedFrame])])
  expect(heard).toEqual([])
  follow()
  announcer.announce([moved([queuedFrame])])
  expect(heard).toEqual([{ runId: 'run_1', ...NAMES, ...queuedFrame }])
  expect(events).toEqual(['evt_1'])
})

test('a run that failed comes with its error: cut to 200 code points, without a stack', () => {
  const { announcer, heard, follow } = setUp()
  follow()
  const error = { message: '🎈'.repeat(300), stack: 'at x', code: 'step_failed', stepName: 'pay' } as const
  const failed = run({ ...theRun, status: 'failed', error, finishedAt: NOW, finishedSeq: firstSeq(9) })
  announcer.announce([{ type: 'run.moved', run: failed, frames: [queuedFrame] }])
  expect(heard.map(({ status, error }) => [status, error])).toEqual([
    ['queued', undefined],
    ['failed', { message: '🎈'.repeat(200), code: 'step_failed', stepName: 'pay' }],
  ])
})

test('a wake that made its run queued is published as the store has it', async () => {
  const { announcer, heard, answer, follow } = setUp()
  follow()
  announcer.announce([event, woken])
  await answer(queuedFrame)
  expect(heard).toEqual([{ runId: 'run_1', ...NAMES, ...queuedFrame }])
})

test.each([
  ['the run is leased', { ...queuedFrame, status: 'running' as const }],
  ['the run was queued before', { ...queuedFrame, ts: NOW - 1 }],
  ['there is no such run', undefined],
])('a wake is not published when %s', async (_, frame) => {
  const { announcer, heard, answer, follow } = setUp()
  follow()
  announcer.announce([event, woken])
  await answer(frame)
  expect(heard).toEqual([])
})

test('a wake is never published after a later change of the run', async () => {
  const { announcer, heard, answer, follow } = setUp()
  follow()
  announcer.announce([event, woken])
  const running: RunStatusFrame = { ...queuedFrame, seq: firstSeq(5), status: 'running' }
  announcer.announce([moved([running])])
  await answer(queuedFrame)
  expect(heard).toEqual([{ runId: 'run_1', ...NAMES, ...running }])
})

test('two wakes of one run are published once', async () => {
  const { announcer, heard, answer, follow } = setUp()
  follow()
  announcer.announce([event, woken, { ...woken, stepIndex: 1 }])
  await answer(queuedFrame)
  await answer(queuedFrame)
  expect(heard).toHaveLength(1)
})

test('an event that wakes thousands of runs causes a bounded number of reads', async () => {
  const { announcer, heard, reads, answer, follow } = setUp()
  follow()
  const wakes = Array.from({ length: 5000 }, (_, i) => ({ ...woken, runId: `run_${i}` }))
  announcer.announce([event, ...wakes])
  expect(reads).toHaveLength(WOKEN_READS_MAX)
  for (const _ of reads) await answer(queuedFrame)
  expect(heard).toHaveLength(WOKEN_READS_MAX)
  announcer.announce([event, woken])
  expect(reads).toHaveLength(WOKEN_READS_MAX + 1)
})

test('a failing store does no harm, and nothing is read without a listener', async () => {
  const { announcer, heard, reads, fail, follow } = setUp()
  announcer.announce([event, woken])
  expect(reads).toEqual([])
  const stop = follow()
  announcer.announce([event, woken])
  await fail()
  stop()
  expect([reads, heard]).toEqual([['run_1'], []])
})

test('a flow-control row wakes the timers lane for its time', async () => {
  const queue = new MemoryQueue(clock)
  const wokenLanes: [string, number][] = []
  queue.wake = (lane, at) => void wokenLanes.push([lane, at])
  const announcer = new Announcer({ queue, live: new Live(), store: { in: () => ({}) as Reads } })
  const of = { namespace: 'here', app: 'shop', workflow: 'w', policy: 'debounce', key: '' } as const
  const row = { id: 'row_1', ...of, version: 1, state: '{}' }
  announcer.announce([
    { type: 'flow.saved', row },
    { type: 'flow.saved', row: { ...row, availableAt: NOW + 7 } },
    { type: 'flow.deleted', id: 'row_1' },
  ])
  expect(wokenLanes).toEqual([['timers', NOW + 7]])
})
