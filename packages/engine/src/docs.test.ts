// Holds the tables of the documentation equal to the code they describe.

import { readFileSync } from 'node:fs'
import { RunErrorCodeSchema } from '@perdure/protocol/schema'
import { expect, test } from 'vitest'
import { SETTINGS } from './config.ts'
import { ERROR_CODES } from './domain/errors.ts'
import { statusOf } from './http/problem.ts'

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8')

/** The cells of every table row whose first cell is code. */
function rows(text: string): string[][] {
  return text
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

const codesOf = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1])

test('docs/errors.md lists every error code with its status, and no other', () => {
  const [bodies] = page('errors').split('## Errors of runs')
  const listed = rows(bodies as string).map(([code, status]) => [codesOf(code)[0], Number(status)])
  const known = (Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]).map(code => [code, statusOf(code)])
  expect(listed.sort()).toEqual(known.sort())
})

test('docs/errors.md lists every error code of runs, and no other', () => {
  const [, runs] = page('errors').split('## Errors of runs')
  expect(
    rows(runs as string)
      .flatMap(([code]) => codesOf(code))
      .sort(),
  ).toEqual([...RunErrorCodeSchema.enum].sort())
})

test('docs/operating.md lists every setting, and no other', () => {
  const [settings] = page('operating').split('## One process')
  expect(
    rows(settings as string)
      .flatMap(([name]) => codesOf(name))
      .sort(),
  ).toEqual([...SETTINGS].sort())
})
