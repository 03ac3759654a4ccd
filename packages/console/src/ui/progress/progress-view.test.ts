import { expect, test } from 'vitest'
import { progressShape, progressView } from './progress-view.ts'

test.each([
  ['0', 0, '0 %'],
  ['0.5', 0.5, '50 %'],
  ['0.9999', 0.9999, '99.9 %'],
  ['1', 1, '100 %'],
  ['45', 0.45, '45 %'],
  ['12.5', 0.125, '12.5 %'],
  ['{"done":3,"total":10}', 0.3, '3 of 10'],
  ['{"done": 3, "total": 10, "at": "row 4711", "eta": null}', 0.3, '3 of 10, at: row 4711, eta: null'],
  ['{"done":12,"total":10}', 1, '12 of 10'],
  ['{"done":12345678901234567890,"total":24691357802469135780}', 0.5, '12345678901234567890 of 24691357802469135780'],
])('%s is a part of the whole', (source, part, text) => {
  expect(progressView(source)).toEqual({ part, text })
})

test.each([
  ['"reading row 4711"', 'reading row 4711'],
  ['101', '101'],
  ['-1', '-1'],
  ['12345678901234567890', '12345678901234567890'],
  ['null', 'null'],
  ['[1,2]', '[1,2]'],
  ['{"done":1,"total":0}', '{"done":1,"total":0}'],
  ['{"done":-1,"total":5}', '{"done":-1,"total":5}'],
  ['{"done":"1","total":5}', '{"done":"1","total":5}'],
  ['{"stage":"copy","files":["a","b', '{"stage":"copy","files":["a","b'],
])('%s is text', (source, text) => {
  expect(progressView(source)).toEqual({ text })
})

test('hidden, it is the kind of its value', () => {
  const sources = ['"secret"', '0.5', '12345678901234567890', 'null', 'true', '[1]', '{"a":1}', '{"a":"cut']
  expect(sources.map(progressShape)).toEqual([
    'string(6)',
    'number',
    'number',
    'null',
    'boolean',
    'array',
    'object',
    'object',
  ])
})
