import { expect, test } from 'vitest'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { listOf, type StepPage, unchangedPages } from './step-pages.ts'

const page = (nextCursor: string | undefined, ...statuses: WaterfallStep['status'][]): StepPage => ({
  items: statuses.map(status => ({ status }) as WaterfallStep),
  ...(nextCursor === undefined ? {} : { nextCursor }),
})

test('a list is whole when its last page has no next one', () => {
  const [first, last] = [page('1', 'succeeded', 'failed'), page(undefined, 'succeeded')]
  expect(listOf([first, last])).toMatchObject({ isWhole: true, steps: { length: 3 } })
  expect(listOf([first])).toMatchObject({ isWhole: false, steps: { length: 2 } })
})

test.each([
  ['the last page is read again: steps may follow', [page('1', 'succeeded'), page(undefined, 'failed')], 1],
  [
    'a page with an open step is read again, and all after it',
    [page('1', 'succeeded', 'waiting'), page('2', 'failed')],
    0,
  ],
  ['pages whose steps have settled are kept', [page('1', 'cancelled'), page('2', 'failed'), page('3', 'retrying')], 2],
])('%s', (_, pages, kept) => {
  expect(unchangedPages({ pages })).toEqual(pages.slice(0, kept))
})
