import { expect, test } from 'vitest'
import { readBox, writeBox } from './qualifiers.ts'

test('the box is read into one filter per qualifier, and text', () => {
  expect(readBox('status:failed workflow:"sync customer" since:2h in:payload A-4711 http://x')).toEqual({
    status: 'failed',
    workflow: 'sync customer',
    since: '2h',
    deep: '1',
    q: 'A-4711 http://x',
  })
  expect(readBox('  ')).toEqual({})
  expect(readBox('constructor:x status:')).toEqual({ q: 'constructor:x status:' })
})

test('what the box writes, it reads', () => {
  const filters: Record<string, string> = {
    status: 'failed,cancelled',
    app: 'a b',
    deep: '1',
    q: 'A-4711',
    type: 'cron',
  }
  expect(readBox(writeBox(name => filters[name]))).toEqual(filters)
})
