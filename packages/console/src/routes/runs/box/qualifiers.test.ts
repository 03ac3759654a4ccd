import { expect, test } from 'vitest'
import { buildUrl, parseUrl } from '../../../router/routes.ts'
import { type Filters, readBox } from './box.ts'
import { writeBox } from './qualifiers.ts'

const read = (text: string) => readBox(text)
const written = (filters: Filters) => writeBox(name => filters[name])

test('the box is read into one filter per qualifier, and text', () => {
  expect(read('status:failed workflow:"sync customer" since:2h A-4711 http://x 12:04')).toEqual({
    filters: { status: 'failed', workflow: 'sync customer', since: '2h', q: 'A-4711 http://x 12:04' },
  })
  expect(read('since:Yesterday until:today')).toEqual({ filters: { since: 'yesterday', until: 'today' } })
  expect(read('  ')).toEqual({ filters: {} })
})

test('text that looks like code, a path or a message is text', () => {
  for (const text of [
    '{"order":"A-1"}',
    '"order":"A-1"',
    'C:\\Temp',
    'Error: card was refused',
    'TypeError: x',
    'a, b',
  ])
    expect(read(text), text).toEqual({ filters: { q: text } })
})

test('qualifiers and their values are taken in any case, lists in one or in several', () => {
  expect(read('Status:Failed,CANCELLED status:paused TYPE:cron')).toEqual({
    filters: { status: 'failed,cancelled,paused', type: 'cron' },
  })
  expect(read('attribute:customer:c-17 attribute:tags:a,b')).toEqual({
    filters: { attribute: 'customer:c-17\ntags:a,b' },
  })
})

test('payloads are searched, and names alone when asked', () => {
  expect(read('in:payload A-4711')).toEqual({ filters: { q: 'A-4711' } })
  expect(read('IN:names A-4711')).toEqual({ filters: { q: 'A-4711', deep: '0' } })
})

test.each([
  ['stat:failed', /no filter stat:\. Did you mean status:…\?/],
  ['customer:c-17', /"customer:c-17", it is text; attribute:customer:c-17 is an attribute/],
  ['constructor:x', /no filter constructor:/],
  ['status:faild', /use one of queued, .*Did you mean failed\?/],
  ['type:child', /type:child is not valid: use one of event, cron/],
  ['workflow:a,b', /takes one name, or a prefix with a star, such as workflow:sync-\*/],
  ['app:a,b', /app: takes one name, not a list/],
  ['app:a app:b', /app: appears twice/],
  ['-status:failed', /filters cannot be negated/],
  ['status: failed', /status: has no value/],
  ['since:tomorrow', /is not a time: write 30m, 24h or 7d ago, today, yesterday, a day/],
  ['until:yesterdy', /Did you mean yesterday\?/],
  ['in:logs x', /in:logs is not supported/],
  ['order OR refund', /search for OR as text, write "OR"/],
])('%s is refused', (text, why) => {
  expect(read(text)).toEqual({ refused: expect.stringMatching(why) })
})

test.each<Filters>([
  { status: 'failed,cancelled', app: 'a b', deep: '0', q: 'A-4711', type: 'cron' },
  { workflow: 'a,b', q: 'order:4711  and "more" OR \\n' },
  { attribute: 'customer:c-17\nnote:say "hi"\ntags:a,b' },
  { q: '-status:failed' },
  { q: 'status: {"a": 1}' },
])('what the box writes, it reads, and so does the address: %j', filters => {
  expect(read(written(filters))).toEqual({ filters })
  const [path, search] = buildUrl('default', 'runs', {}, filters).split('?')
  const match = parseUrl(path as string, search)
  expect(match.kind === 'page' && Object.fromEntries(match.query)).toEqual(filters)
})

test('several attributes are a parameter that is given several times, as in the API', () => {
  expect(buildUrl('default', 'runs', {}, { attribute: 'a:1\nb:2' })).toBe('/n/default/runs?attribute=a:1&attribute=b:2')
})
