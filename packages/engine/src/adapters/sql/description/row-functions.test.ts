// The functions generated from descriptions of tables, from objects to rows and back.

import { expect, test } from 'vitest'
import { boolean, derived, flag, integer, json, named, optional, parts, payload, text, unmapped } from './column.ts'
import { INLINE_CHARS_MAX } from './row-functions.ts'
import { table } from './table.ts'
import type { Value } from './values.ts'

interface Thing {
  id: string
  index: number
  createdAt: number
  label?: string
  tags: string[]
  extra?: { deep: number }
  isOpen: boolean
  isOld?: boolean
  origin: { name: string; id?: string }
  body?: string
}

const THINGS = table<Thing>()('things', {
  fixed: {
    id: text,
    index: named('idx', integer),
    createdAt: integer,
    label: optional(text),
    tags: json,
    extra: optional(json),
    origin: parts<Thing['origin']>({ id: optional(text), name: text }),
    body: payload,
    size: derived(integer, ({ tags }: Thing) => tags.length),
    other: unmapped(optional(text)),
  },
  moving: { isOpen: boolean, isOld: flag },
})

const full: Thing = {
  id: 'a',
  index: 3,
  createdAt: 9,
  label: 'x',
  tags: ['t'],
  extra: { deep: 1 },
  isOpen: true,
  isOld: true,
  origin: { name: 'n', id: 'i' },
  body: '{}',
}
const bare: Thing = { id: 'b', index: 0, createdAt: 0, tags: [], isOpen: false, origin: { name: '' } }

function rowOf(thing: Thing): Value[] {
  const row: Value[] = ['before']
  THINGS.append(row, thing)
  return row.slice(1)
}

test('columns are the fields in snake case, in the order of the description', () => {
  expect(THINGS.columns.join(' ')).toBe(
    'id idx created_at label tags extra origin_id origin_name body size is_open is_old',
  )
  expect(THINGS.moving).toEqual(['is_open', 'is_old'])
  expect(THINGS.schema.map(({ name }) => name)).toContain('other')
})

test('a row holds every field, and reads back as the object', () => {
  expect(rowOf(full)).toEqual(['a', 3, 9, 'x', '["t"]', '{"deep":1}', 'i', 'n', '{}', 1, 1, 1])
  expect(rowOf(bare)).toEqual(['b', 0, 0, null, '[]', null, null, '', null, 0, 0, null])
  for (const thing of [full, bare]) expect(THINGS.fromRow([...rowOf(thing), 'behind'])).toEqual(thing)
})

test('a move writes only the columns that move', () => {
  const moves: Value[] = []
  THINGS.appendMoving(moves, full)
  expect(moves).toEqual([1, 1])
})

test('a long payload is not in its row, and selected from where it is', () => {
  const at = THINGS.columns.indexOf('body')
  expect(rowOf({ ...full, body: 'x'.repeat(INLINE_CHARS_MAX) })[at]).toHaveLength(INLINE_CHARS_MAX)
  expect(rowOf({ ...full, body: 'x'.repeat(INLINE_CHARS_MAX + 1) })[at]).toBeNull()
  expect(THINGS.select).toContain('coalesce(things.body, (SELECT body FROM payloads WHERE payloads.id = things.id))')
  expect(THINGS.selectWithout('tags')).toMatch(/^things\.id, .* NULL, .*things\.body, /)
})

test('a field without a column does not compile', () => {
  // @ts-expect-error: `createdAt` has none.
  table<{ id: string; createdAt: number }>()('broken', { fixed: { id: text } })
  // @ts-expect-error: a required column cannot store an absent value.
  table<{ id?: string }>()('broken', { fixed: { id: text } })
  // @ts-expect-error: a column of another type.
  table<{ id: string }>()('broken', { fixed: { id: integer } })
})
