import { expect, test } from 'vitest'
import { parse } from '../../data/json/parse.ts'
import { keepKnown, newestAt, replaceRows } from './pages.ts'

interface Row {
  id: string
  text: string
}

const page = (...items: Row[]) => ({ items })
const pages = {
  pages: [page({ id: 'b', text: '2' }, { id: 'a', text: '1' }), page({ id: '0', text: '0' })],
  pageParams: [undefined, 'next'],
} as unknown as Parameters<typeof replaceRows<Row>>[0]

test('rows are replaced in their places; pages without a change stay the same objects', () => {
  const next = replaceRows(pages, row => (row.id === 'a' ? { id: 'a', text: 'new' } : row))
  expect(next.pages[0]?.items.map(({ text }) => text)).toEqual(['2', 'new'])
  expect(next.pages[1]).toBe(pages.pages[1])
  expect(replaceRows(pages, row => row)).toBe(pages)
})

test('rows of a new page that read the same are the known objects', () => {
  const read = () => page(...(parse('[{"id":"b","text":"2"},{"id":"a","text":"1"}]') as Row[]))
  const known = { pages: [read()], pageParams: [undefined] }
  const next = read()
  next.items[1] = { id: 'a', text: 'new' }
  keepKnown(known, next, ({ id }) => id)
  expect(next.items[0]).toBe(known.pages[0]?.items[0])
  expect(next.items[1]).toEqual({ id: 'a', text: 'new' })
})

test('the youngest row is found on every page', () => {
  expect(newestAt(pages, ({ text }) => text)).toBe('2')
  expect(newestAt({ pages: [], pageParams: [] }, String)).toBe('')
})
