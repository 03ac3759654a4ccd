import { expect, test } from 'vitest'
import { fits } from './layout.ts'

const columns = [{ width: '100px' }, { width: '20%' }, {}, { width: '60px' }]

test('each column has room: those with a part of the width, and those that share the rest', () => {
  expect(fits(columns, 400)).toBe(true)
  // 20 % are 78 px.
  expect(fits(columns, 390)).toBe(false)
  // 500 less 160 and 100 leave 240 for two columns.
  expect(fits([...columns, {}], 500)).toBe(true)
  expect(fits([...columns, {}], 499)).toBe(false)
})
