import { expect, test } from 'vitest'
import { byTrouble, changeText, windowBefore } from './changes.ts'

const row = (workflow: string, failed: number, p95Ms?: number) => ({ app: 'shop', workflow, failed, p95Ms })

test('workflows that fail come first, then those that became slower, then the slowest', () => {
  const rows = [
    row('steady', 0, 9000),
    row('faster', 0, 100),
    row('noise', 0, 1100),
    row('new', 0, 500),
    row('slower', 0, 300),
    row('failing', 2, 10),
    row('idle', 0),
  ]
  const before = [row('steady', 0, 9000), row('faster', 9, 400), row('noise', 0, 1000), row('slower', 0, 100)]
  const found = byTrouble(rows, before)
  expect(found.map(each => each.row.workflow)).toEqual([
    'failing',
    'slower',
    'steady',
    'noise',
    'new',
    'idle',
    'faster',
  ])
  expect(found.map(({ change }) => changeText(change))).toEqual(['', '×3.0', '', '', '', '', '−75 %'])
})

test('a workflow of another app is not compared', () => {
  const [found] = byTrouble([row('order', 0, 300)], [{ app: 'mail', workflow: 'order', p95Ms: 100 }])
  expect(found).toMatchObject({ change: 1, beforeMs: undefined })
})

test.each([
  [1, ''],
  [1.4, '+40 %'],
  [1.996, '+100 %'],
  [2, '×2.0'],
  [14.4, '×14'],
  [0.5, '−50 %'],
])('%d is %s', (change, text) => expect(changeText(change)).toBe(text))

test('the window before is as long, and ends where the window begins', () => {
  const now = Date.parse('2026-01-02T12:00:30.000Z')
  expect(windowBefore('2026-01-02T11:00:00.000Z', now)).toEqual({
    since: '2026-01-02T09:59:00.000Z',
    until: '2026-01-02T11:00:00.000Z',
  })
  expect(windowBefore(undefined, now)).toBeUndefined()
})
