// The list of runs walks an index for every filter that claims to have one.

import { expect, test } from 'vitest'
import { Connection } from '../sqlite/connection.ts'
import { migrate } from '../sqlite/migrations.ts'
import { filterTerms } from './run-filter.ts'
import { FILTERS_BY_ID, RunListing } from './run-list-queries.ts'

test.each(FILTERS_BY_ID)('the filter %s has an index in the order of ids', async name => {
  const connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const isList = name === 'status' || name === 'ids' || name === 'attribute'
  const filter = { [name]: isList ? ['failed'] : 'failed' }
  const column = name === 'attribute' ? name : filterTerms(filter).get(name)?.columns[0]
  const [page] = new RunListing('default', { ...filter, limit: 10 }).queries(10)
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${page?.sql}`).all(page?.params ?? [])
  const walk = plan.map(row => String(row.at(-1))).find(step => step.includes(`${column}=?`))
  expect(walk, JSON.stringify(plan)).toMatch(/SEARCH (runs|run_attributes) USING .*(INDEX|PRIMARY KEY)/)
  connection.close()
})
