import { expect, test } from 'vitest'
import { merge } from './merge.ts'

const run = (id: string, status: 'queued' | 'waiting' = 'queued') => ({
  id,
  workflow: 'w',
  app: 'a',
  status,
  triggerKind: 'event' as const,
  attempt: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
})
const frame = (runId: string, status: string, ts = '2026-01-01T00:00:01.000Z') => ({
  kind: 'run_status',
  runId,
  status,
  ts,
})
const pages = { pages: [{ items: [run('run_1'), run('run_2')] }, { items: [run('run_3')] }], pageParams: [] }

test('a frame replaces the row of its run, in its place', () => {
  const first = merge(pages, [frame('run_3', 'running')])
  const merged = merge(first.pages, [frame('run_3', 'succeeded', '2026-01-01T00:00:03.500Z')])
  expect(merged.pages.pages[1]?.items[0]).toMatchObject({ status: 'succeeded', durationMs: 2500 })
  expect(merged.pages.pages[0]?.items.map(({ id }) => id)).toEqual(['run_1', 'run_2'])
})

test('frames of unknown runs are counted, once per run', () => {
  const merged = merge(pages, [frame('run_8', 'queued'), frame('run_8', 'running'), frame('run_9', 'queued')])
  expect(merged.unknown).toBe(2)
  expect(merged.pages).toBe(pages)
})
