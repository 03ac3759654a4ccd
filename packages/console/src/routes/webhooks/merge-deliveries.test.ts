import { expect, test } from 'vitest'
import { mergeDeliveries } from './merge-deliveries.ts'

type Pages = Parameters<typeof mergeDeliveries>[0]

const second = (n: number) => `2026-01-01T00:00:0${n}.000Z`
const delivery = (id: string, status: string, more = {}) => ({
  id,
  status,
  app: 'shop',
  eventKind: 'run.failed',
  attemptCount: 1,
  createdAt: second(2),
  updatedAt: second(3),
  ...more,
})
const pages = {
  pages: [{ items: [delivery('dlv_2', 'pending', { nextAttemptAt: second(9) }), delivery('dlv_1', 'succeeded')] }],
  pageParams: [undefined],
} as unknown as Pages
const merged = (frames: object[], input = {}, isSampled = false) =>
  mergeDeliveries(
    pages,
    frames.map(frame => ({ kind: 'delivery', ...frame })),
    { isSampled, input },
  )

test('a frame is the row, whole, in its place', () => {
  const { pages: next, added } = merged([delivery('dlv_2', 'succeeded', { updatedAt: second(4) })])
  expect(next.pages[0]?.items).toEqual([
    delivery('dlv_2', 'succeeded', { updatedAt: second(4) }),
    delivery('dlv_1', 'succeeded'),
  ])
  expect(added).toEqual([])
})

test('an older frame, which arrives late, changes nothing', () => {
  expect(merged([delivery('dlv_1', 'delivering', { updatedAt: second(2) })]).pages).toBe(pages)
})

test('while frames are sampled, a row changes its status alone', () => {
  const { pages: next, added } = merged([{ id: 'dlv_2', status: 'delivering' }, { id: 'dlv_9' }], {}, true)
  expect(next.pages[0]?.items[0]).toEqual(delivery('dlv_2', 'delivering', { nextAttemptAt: second(9) }))
  expect(added).toEqual([])
})

test('a delivery is new when it is younger than every row, or came into the status of the filter', () => {
  const young = delivery('dlv_3', 'pending', { createdAt: second(5) })
  expect(merged([young]).added).toEqual(['dlv_3'])
  expect(merged([delivery('dlv_0', 'pending', { createdAt: second(1) })]).added).toEqual([])
  const exhausted = delivery('dlv_0', 'exhausted', { createdAt: second(1) })
  expect(merged([exhausted], { status: 'exhausted' }).added).toEqual(['dlv_0'])
  expect(merged([young], { status: 'exhausted' }).added).toEqual([])
  for (const other of [{ app: 'x' }, { endpointId: 'whe_1' }, { eventKind: 'test' }, { since: second(6) }])
    expect(merged([young], other).added).toEqual([])
  expect(merged([young], { until: second(5) }).added).toEqual([])
})
