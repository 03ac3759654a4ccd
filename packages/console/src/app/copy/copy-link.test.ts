import { expect, test } from 'vitest'
import { parseUrl } from '../../router/routes.ts'
import { pinnedUrl } from './copy-link.ts'

const now = Date.parse('2026-05-01T12:00:00.000Z')
const root = 'http://127.0.0.1:4777/console'
const runs = `${root}/n/default/runs`
const pinned = (url: string) => {
  const { pathname, search } = new URL(url)
  return pinnedUrl(url, parseUrl(pathname.slice('/console'.length), search), now)
}

test('relative windows become times, and the rest stays', () => {
  expect(pinned(`${runs}?status=failed&since=24h&until=30m&x=1`)).toBe(
    `${runs}?status=failed&since=2026-04-30T12:00:00.000Z&until=2026-05-01T11:30:00.000Z&x=1`,
  )
})

test.each(['', '?since=2026-01-01T00:00:00.000Z', '?since=soon'])('%s has no relative window', search => {
  expect(pinned(runs + search)).toBe(runs + search)
})

test.each([
  ['/runs?since=24h', '/runs?since=2026-04-30T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/?since=7d', '/?since=2026-04-24T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  // The default window of a page.
  ['/', '/?since=2026-04-30T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/workflows', '/workflows?since=2026-04-30T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/workflows/shop/order', '/workflows/shop/order?since=2026-04-30T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/errors', '/errors?since=2026-04-30T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/errors/3f9a', '/errors/3f9a?since=2026-04-01T12:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  ['/audit?since=1h', '/audit?since=2026-05-01T11:00:00.000Z&until=2026-05-01T12:00:00.000Z'],
  // A page whose window has no end.
  ['/keys?since=1h', '/keys?since=2026-05-01T11:00:00.000Z'],
])('%s is pinned as %s', (path, expected) => {
  expect(pinned(`${root}/n/default${path}`)).toBe(`${root}/n/default${expected}`)
})
