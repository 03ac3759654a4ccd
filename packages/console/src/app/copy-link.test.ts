import { expect, test } from 'vitest'
import { pinnedUrl } from './copy-link.ts'

const now = Date.parse('2026-05-01T12:00:00.000Z')
const runs = 'http://127.0.0.1:4777/console/n/default/runs'

test('relative windows become times, and the rest stays', () => {
  expect(pinnedUrl(`${runs}?status=failed&since=24h&until=30m&x=1`, now)).toBe(
    `${runs}?status=failed&since=2026-04-30T12:00:00.000Z&until=2026-05-01T11:30:00.000Z&x=1`,
  )
})

test.each(['', '?since=2026-01-01T00:00:00.000Z', '?since=soon'])('%s has no relative window', search => {
  expect(pinnedUrl(runs + search, now)).toBe(runs + search)
})
