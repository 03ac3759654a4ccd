import { expect, test } from 'vitest'
import { parse } from '../../../data/json/parse.ts'
import type { Item } from '../../../data/queries.ts'
import { CSV_HEAD, cell, linesOf } from './csv.ts'

const run = (source: string) => parse(source) as Item<'listRuns'>

test.each([
  ['plain', 'plain'],
  [undefined, ''],
  [-5, '-5'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', `"'=1+1"`],
  ['+49', `"'+49"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
])('the cell of %j', (value, text) => {
  expect(cell(value)).toBe(text)
})

test('a run is a line of cells, or one JSON object with every digit', () => {
  const one = run(
    '{"id":"run_1","status":"failed","workflow":"=cmd","app":"shop","createdAt":"2026-01-01T00:00:00.000Z","durationMs":12,"error":{"code":"step_failed","message":"no, \\"never\\"","stepName":"charge"},"attributes":{"n":12345678901234567890}}',
  )
  expect(linesOf([one], 'ndjson')).toBe(
    '{"id":"run_1","status":"failed","workflow":"=cmd","app":"shop","createdAt":"2026-01-01T00:00:00.000Z","durationMs":12,"error":{"code":"step_failed","message":"no, \\"never\\"","stepName":"charge"},"attributes":{"n":12345678901234567890}}\n',
  )
  expect(CSV_HEAD + linesOf([one], 'csv')).toBe(
    'id,status,workflow,app,trigger,created_at,started_at,finished_at,duration_ms,waiting_for,error_step,error_code,error_message,parent_run_id,replay_of,kind,attributes\r\n' +
      'run_1,failed,"\'=cmd",shop,,2026-01-01T00:00:00.000Z,,,12,,charge,step_failed,"no, ""never""",,,run,"{""n"":12345678901234567890}"\r\n',
  )
})
