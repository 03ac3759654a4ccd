import { expect, test } from 'vitest'
import { PARAMETERS } from '../../router/parameters.ts'
import { parseUrl, ROUTES, type RouteName } from '../../router/routes.ts'
import { callOf } from './page-call.ts'

const at = '2026-05-01T12:00:00.000Z'
const later = '2026-05-02T12:00:00.000Z'

function read(path: string, query: string) {
  const match = parseUrl(`/n/default${path}`, `?${query}`)
  if (match.kind !== 'page') throw new Error(`${path} is no page`)
  return callOf(match)
}

test.each([
  ['/', `since=${at}&until=${later}`, { since: at, until: later }],
  ['/workflows/shop/order', `since=${at}&until=${later}`, { app: 'shop', workflow: 'order', since: at, until: later }],
  [
    '/events',
    `name=a&app=shop&source=api&since=${at}&until=${later}`,
    { name: 'a', app: 'shop', source: 'api', since: at, until: later },
  ],
  ['/schedules', 'source=api', { source: 'api' }],
  ['/errors', `app=shop&workflow=order&since=${at}`, { state: 'open', app: 'shop', workflow: 'order', since: at }],
  ['/errors/3f9a', `app=shop&workflow=order&since=${at}`, { error: '3f9a', app: 'shop', workflow: 'order', since: at }],
  [
    '/webhooks/deliveries',
    `status=failed&kind=run.failed&app=shop&endpoint=whe_1&since=${at}&until=${later}`,
    { status: 'failed', eventKind: 'run.failed', app: 'shop', endpointId: 'whe_1', since: at, until: later },
  ],
  [
    '/audit',
    `action=cancel&run=run_1&actor=ada&since=${at}`,
    { action: 'cancel', runId: 'run_1', actor: 'ada', since: at },
  ],
])('%s has every filter of its URL in its read', (path, query, input) => {
  expect(read(path, query)).toMatchObject({ call: { input }, missing: [] })
})

test.each([
  ['/schedules', 'app=shop&workflow=order&state=late&source=api', ['app', 'workflow', 'state']],
  ['/workflows', 'q=order&app=shop&sort=name', ['q']],
  ['/audit', 'target=key_1&actor=ada', ['target']],
])('%s names the filters that its read does not have', (path, query, missing) => {
  expect(read(path, query)?.missing).toEqual(missing)
})

test('the page of a draft has no read: a command for it would send an event', () => {
  expect(read('/events/send', 'name=order.placed&like=evt_1')).toBeUndefined()
})

// No filter of a list is silently lost, no matter which route or parameter is added.
test.each(Object.keys(ROUTES) as RouteName[])('%s: a filter is in the read, or named', name => {
  for (const key of PARAMETERS[name]) {
    const found = read(ROUTES[name].path.replaceAll(/[{}]/g, ''), `${key}=x1x`)
    const isRead = JSON.stringify(found?.call.input)?.includes('x1x') ?? true
    expect(isRead || found?.missing.includes(key) || VIEW.has(key) || OF_ONE.has(name), key).toBe(true)
  }
})

const VIEW = new Set(['tab', 'sort', 'dir', 'cols', 'rows', 'live', 'like', 'of', 'deep', 'since', 'until'])
const OF_ONE = new Set<RouteName>(['run', 'event', 'delivery', 'receiver', 'bundle'])
