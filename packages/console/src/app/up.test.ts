import { expect, test } from 'vitest'
import { type PageMatch, parseUrl } from '../router/routes.ts'
import { isInSection, leave, urlAbove } from './up.ts'

const at = (path: string, search = '') => parseUrl(path, search) as PageMatch

test('above a record is its list, with the filters with which it was left; above a list is nothing', () => {
  expect(urlAbove(at('/n/a/runs/run_1'))).toBe('/n/a/runs')
  leave(at('/n/a/runs', '?status=failed&kept=1'))
  expect(urlAbove(at('/n/a/runs/run_1'))).toBe('/n/a/runs?status=failed&kept=1')
  expect(urlAbove(at('/n/b/runs/run_1'))).toBe('/n/b/runs')
  expect(urlAbove(at('/n/a/webhooks/endpoints/whe_1'))).toBe('/n/a/webhooks/endpoints')
  expect(urlAbove(at('/n/a/runs'))).toBeUndefined()
})

test.each([
  ['bulk', 'runs', true],
  ['bundle', 'runs', true],
  ['runs', 'runs', true],
  ['receiver', 'deliveries', true],
  ['endpoints', 'deliveries', true],
  ['workflow', 'workflows', true],
  ['run', 'workflows', false],
  ['overview', 'runs', false],
] as const)('whether the page %s is in the section %s', (name, section, isIn) => {
  expect(isInSection(name, section)).toBe(isIn)
})
