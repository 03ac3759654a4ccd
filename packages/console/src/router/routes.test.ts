import { expect, test } from 'vitest'
import { buildUrl, parseUrl, ROUTES, type RouteName } from './routes.ts'

test.each(Object.keys(ROUTES) as RouteName[])('the URL of %s is read back as it was built', name => {
  const params = Object.fromEntries([...ROUTES[name].path.matchAll(/\{(\w+)\}/g)].map(([, key]) => [key, 'a/b ü%']))
  const url = buildUrl('acme inc', name, params as never, { since: '1h' } as never)
  const [path = '', search] = url.split('?')
  expect(parseUrl(path, search)).toMatchObject({ kind: 'page', name, namespace: 'acme inc', params })
})

test('a literal path is read before one with an id', () => {
  expect(parseUrl('/n/default/events/send')).toMatchObject({ name: 'sendEvent' })
  expect(parseUrl('/n/default/events/evt_1')).toMatchObject({ name: 'event', params: { id: 'evt_1' } })
})

test('unknown query parameters are kept', () => {
  const match = parseUrl('/n/default/runs', '?status=failed&utm=x')
  expect(match.kind === 'page' && [...match.query]).toEqual([
    ['status', 'failed'],
    ['utm', 'x'],
  ])
})

test('a list is read with commas or as a parameter that is given several times', () => {
  const match = parseUrl('/n/default/runs', '?status=failed&app=shop&status=queued,paused')
  expect(match.kind === 'page' && match.query.get('status')).toBe('failed,queued,paused')
})

test.each([
  ['/', { kind: 'root' }],
  ['/go/run_1', { kind: 'go', id: 'run_1' }],
  ['/go', { kind: 'unknown' }],
  ['/n/default/nowhere', { kind: 'unknown' }],
  ['/runs', { kind: 'unknown' }],
])('%s', (path, match) => {
  expect(parseUrl(path)).toEqual(match)
})
