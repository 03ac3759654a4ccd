// The layout of tables: widths, alignment, colours and control characters.

import { expect, test } from 'vitest'
import { painter } from './colour.ts'
import { type Column, table } from './table.ts'
import { widthOf } from './text.ts'

interface Row {
  id: string
  name: string
  note?: string
}

const columns: Column<Row>[] = [
  { title: 'ID', cell: row => row.id, whole: true },
  { title: 'NAME', cell: row => ({ text: row.name, colour: 'green' }) },
  { title: 'NOTE', cell: row => row.note },
]
const draw = (rows: Row[], width?: number, colour = false) => table(rows, columns, { width, paint: painter(colour) })

test('columns are as wide as their widest cell; an undefined cell is a dash', () => {
  expect(
    draw([
      { id: 'run_1', name: 'a' },
      { id: 'r', name: 'longer', note: 'x' },
    ]),
  ).toEqual(['ID     NAME    NOTE', 'run_1  a       -', 'r      longer  x'])
})

test('columns stay aligned with wide and combining characters', () => {
  expect(
    draw([
      { id: '日本', name: 'e\u0301', note: '|' },
      { id: 'abcd', name: '🎈', note: '|' },
    ]),
  ).toEqual(['ID    NAME  NOTE', '日本  e\u0301     |', 'abcd  🎈    |'])
})

test('control characters are escaped', () => {
  expect(draw([{ id: 'x\r', name: 'a\n\u001b[31m\u009b\u202e' }])[1]).toBe('x\\r  a\\n\\u001b[31m\\u009b\\u202e  -')
})

test('no line is wider than the terminal; ids are shortened last', () => {
  const rows = [{ id: 'run_0123456789', name: 'n'.repeat(50), note: '日'.repeat(40) }]
  for (const width of [120, 80, 60, 40, 30, 20, 10, 3, 1]) {
    for (const line of draw(rows, width)) expect(widthOf(line), `${width}`).toBeLessThanOrEqual(width)
    for (const line of draw(rows, width)) expect(line.length, `${width}`).toBeGreaterThan(0)
  }
  expect(draw(rows, 40)[1]).toMatch(/^run_0123456789 {2}n+… +日+…$/)
  expect(draw(rows, 30)[1]).toContain('run_0123456789')
})

test('a table that is too wide leaves out columns without a value, then those that matter least', () => {
  const wide: Column<Row>[] = [
    { title: 'ID', cell: row => row.id, whole: true },
    { title: 'NAME', cell: row => row.name, leave: 2 },
    { title: 'EMPTY', cell: row => row.note, leave: 3 },
    { title: 'SIZE', cell: () => 's'.repeat(12), leave: 1 },
    { title: 'TEXT', cell: () => 't'.repeat(40) },
  ]
  const rows = [{ id: 'run_0123456789', name: 'n'.repeat(30) }]
  const titles = (width: number) => table(rows, wide, { width, paint: painter(false) })[0]?.split(/ +/)
  expect(titles(200)).toEqual(['ID', 'NAME', 'EMPTY', 'SIZE', 'TEXT'])
  expect(titles(70)).toEqual(['ID', 'NAME', 'SIZE', 'TEXT'])
  expect(titles(60)).toEqual(['ID', 'NAME', 'TEXT'])
  expect(titles(40)).toEqual(['ID', 'TEXT'])
  expect(titles(20)).toEqual(['ID', 'TEXT'])
})

test('colours take no width, and are only in cells that set one', () => {
  const rows = [{ id: 'x', name: 'ok', note: 'y' }]
  const coloured = draw(rows, 80, true)
  expect(coloured[1]).toBe('x   \u001b[32mok\u001b[0m    y')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape is what is looked for
  expect(coloured.map(line => line.replace(/\u001b\[\d+m/g, ''))).toEqual(draw(rows, 80))
})
