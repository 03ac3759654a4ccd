// Options made from query parameters.

import { queries } from '@perdure/protocol/queries'
import { expect, test } from 'vitest'
import { type ParameterOf, parametersOf } from './parameters.ts'

const operations = Object.keys(queries) as (keyof typeof queries)[]

const optionOf = (name: ParameterOf<'listRuns'>) => {
  const [parameter] = parametersOf('listRuns', { only: [name] })
  return parameter?.option
}

test.each(operations)('every query parameter of %s but the cursor is an option of its own', operation => {
  const parameters = parametersOf(operation)
  const flags = parameters.map(({ option }) => option.long)
  expect(new Set(flags).size).toBe(flags.length)
  expect(parameters.map(({ name }) => name)).toEqual(Object.keys(queries[operation]).filter(name => name !== 'cursor'))
})

test('an option has the name, the values, the bounds and the text of its parameter', () => {
  expect(optionOf('runType')).toMatchObject({ flags: '--run-type <type>', argChoices: ['event', 'cron'] })
  expect(optionOf('parentRunId')?.flags).toBe('--parent <id>')
  expect(optionOf('workflow')?.description).toBe('only runs of this workflow')
  expect(optionOf('since')?.description).toBe('only runs created at or after this time: 2h, 7d, or an RFC 3339 time')
  expect(optionOf('limit')).toMatchObject({ description: 'maximum number of rows', defaultValue: 30 })
  expect(() => optionOf('status')?.parseArg?.('lost', undefined)).toThrow('Allowed are queued')
  const [trend] = parametersOf('listErrors', { only: ['trend'] })
  expect(() => trend?.option.parseArg?.('49', undefined)).toThrow('It must be a whole number from 1 to 48.')
})

test('a command may say more than the API, and preset another limit', () => {
  const parameters = parametersOf('listEvents', {
    only: ['prefix', 'limit'],
    texts: { prefix: 'only events whose name begins so' },
    rows: 'events',
    limit: 30,
  })
  expect(parameters.map(({ option }) => option.description)).toEqual([
    'only events whose name begins so',
    'maximum number of events',
  ])
  expect(parameters[1]?.option.defaultValue).toBe(30)
})
