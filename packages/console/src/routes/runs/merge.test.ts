import { expect, test } from 'vitest'
import { isNew, merge, movesQueues, needsRead, newestOf, withoutPosition } from './merge.ts'

const run = (id: string, status: 'queued' | 'waiting' = 'queued') => ({
  id,
  workflow: 'w',
  app: 'a',
  status,
  triggerKind: 'event' as const,
  attempt: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
})
const frame = (runId: string, status: string, more: object = {}) => ({
  kind: 'run_status',
  runId,
  status,
  ts: '2026-01-01T00:00:01.000Z',
  ...more,
})
const pages = { pages: [{ items: [run('run_1'), run('run_2')] }, { items: [run('run_3')] }], pageParams: [] }
const whole = { isSampled: false }

test('a frame replaces the row of its run, in its place', () => {
  const first = merge(pages, [frame('run_3', 'running', { attempt: 2, currentStepName: 'charge' })], whole)
  expect(first.pages.pages[1]?.items[0]).toMatchObject({ status: 'running', attempt: 2, currentStepName: 'charge' })
  const end = { durationMs: 2500, error: { message: 'no' } }
  const merged = merge(first.pages, [frame('run_3', 'failed', end)], whole)
  expect(merged.pages.pages[1]?.items[0]).toMatchObject({ status: 'failed', ...end })
  expect(merged.pages.pages[0]).toBe(pages.pages[0])
  expect(merge(merged.pages, [frame('run_3', 'running')], whole).pages).toBe(merged.pages)
})

test('while frames are sampled, a row changes its status alone', () => {
  const frames = [frame('run_1', 'running', { attempt: 3 }), frame('run_2', 'queued', { attempt: 3 })]
  const { items } = merge(pages, frames, { isSampled: true }).pages.pages[0] ?? { items: [] }
  expect(items).toEqual([{ ...run('run_1'), status: 'running' }, run('run_2')])
  expect(items[1]).toBe(pages.pages[0]?.items[1])
})

test('frames move the places in queues that rows show; a row with a frame, or that was not read again, has none', () => {
  const held = { ...run('run_1'), position: 4 }
  const list = { pages: [{ items: [held, run('run_2')] }], pageParams: [] }
  expect(movesQueues(list, [frame('run_9', 'succeeded')])).toBe(true)
  expect(movesQueues(list, [{ ...frame('run_9', 'running'), kind: 'progress' }])).toBe(false)
  expect(movesQueues(pages, [frame('run_9', 'succeeded')])).toBe(false)
  expect(merge(list, [frame('run_1', 'queued')], whole).pages.pages[0]?.items[0]).not.toHaveProperty('position')
  expect(withoutPosition(held)).not.toHaveProperty('position')
  expect(withoutPosition(run('run_2'))).toEqual(run('run_2'))
})

test('frames of runs that have no row come back, and change nothing', () => {
  const merged = merge(pages, [frame('run_8', 'queued'), frame('run_8', 'running'), frame('run_9', 'queued')], whole)
  expect(merged.unknown.map(({ runId, status }) => [runId, status])).toEqual([
    ['run_8', 'running'],
    ['run_9', 'queued'],
  ])
  expect(merged.pages).toBe(pages)
})

test('a run is new when it is younger than every row, or came into the status of the filter', () => {
  const now = frame('run_4', 'running', { app: 'a', workflow: 'w' })
  const newest = (id: string) => ({ id, createdAt: '2026-01-01T00:00:02.000Z' })
  expect(isNew(now, newest('run_3'), {})).toBe(true)
  expect(isNew(now, newest('run_5'), {})).toBe(false)
  expect(isNew(now, newest('run_5'), { status: 'failed,running' })).toBe(true)
  expect(isNew(now, newest('run_3'), { status: ['failed'] })).toBe(false)
  expect(isNew(now, newest('run_3'), { app: 'b' })).toBe(false)
  expect(isNew(now, newest('run_3'), { workflow: 'v' })).toBe(false)
  expect(isNew(now, newest('run_3'), { workflow: 'v*' })).toBe(false)
  expect(isNew(now, newest('run_3'), { workflow: 'w*' })).toBe(true)
})

test('a run that came after the end of the window is not new', () => {
  const now = frame('run_4', 'queued')
  const newest = { id: 'run_3', createdAt: '2026-01-01T00:00:00.000Z' }
  expect(isNew(now, newest, { until: '2026-01-01T00:00:01.000Z' })).toBe(false)
  expect(isNew(now, newest, { until: '2026-01-01T00:00:01.001Z' })).toBe(true)
})

test.each([
  [{}, false],
  [{ app: 'a', workflow: 'w*', status: 'failed' }, false],
  [{ until: '2026-01-01T00:00:00.000Z' }, false],
  [{ until: '2026-01-01T00:00:00.000Z', status: 'failed' }, true],
  [{ runType: 'cron' }, true],
  [{ attribute: ['plan:pro'] }, true],
  [{ key: 'order-7' }, true],
  [{ q: 'A-4711' }, true],
])('whether frames say that a run belongs to a list with the filters %j', (filters, isUnsure) => {
  expect(needsRead(filters)).toBe(isUnsure)
})

test('a run with an id of its caller is new when it started after the youngest row was made, or has not started', () => {
  const rows = [{ ...run('order-9'), createdAt: '2026-01-01T00:00:05.000Z' }, run('run_3')]
  const newest = newestOf({ pages: [{ items: rows }], pageParams: [] })
  expect(newest).toEqual({ id: 'run_3', createdAt: '2026-01-01T00:00:05.000Z' })
  const started = (startedAt?: string) => frame('order-1', 'running', startedAt === undefined ? {} : { startedAt })
  expect(isNew(started('2026-01-01T00:00:04.000Z'), newest, {})).toBe(false)
  expect(isNew(started('2026-01-01T00:00:06.000Z'), newest, {})).toBe(true)
  expect(isNew(started(), newest, {})).toBe(true)
})
