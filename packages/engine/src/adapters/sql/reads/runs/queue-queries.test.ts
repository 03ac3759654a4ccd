// Places in queues that are longer than the counted part, and the plan of their reads.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELD_COUNTED_MAX, HELD_OF_PAGE_COUNTED_MAX } from '../../../../ports/queue-reads.ts'
import type { Query } from '../../description/values.ts'
import { Connection } from '../../sqlite/connection.ts'
import { migrate } from '../../sqlite/migrations.ts'
import { HeldBeforeEach } from './queue-queries.ts'

const QUEUED = HELD_COUNTED_MAX + 50
const idAt = (i: number) => `run_${String(i).padStart(6, '0')}`
let connection: Connection
beforeAll(async () => {
  connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
  const insert = connection.prepare(
    `INSERT INTO runs (id, waits_for_slot, priority, ${NEEDED.join(', ')}) VALUES (?, ?, ?, ${NEEDED.map(() => '0').join(', ')})`,
  )
  connection.exec('BEGIN')
  for (let i = 0; i < QUEUED; i++) insert.run([idAt(i), 'long', i === QUEUED - 1 ? 1 : null])
  insert.run(['run_short', 'short', null])
  connection.exec('COMMIT')
})
afterAll(() => connection.close())

/** The columns of runs that must have a value. */
const NEEDED = [
  ...[
    'namespace',
    'workflow',
    'app',
    'created_at',
    'trigger_kind',
    'trigger_name',
    'input',
    'destination',
    'log_position',
  ],
  ...['status', 'fence', 'attempt', 'transport_tries', 'duration_ms'],
]
const reads: Query[][] = []
const read = async (queries: Query[]) => {
  reads.push(queries)
  return queries.map(({ sql, params }) => connection.prepare(sql).all(params))
}

test('of a long queue so many are counted; the runs behind have at least so many before them', async () => {
  const wanted = [0, 7, HELD_COUNTED_MAX - 2, HELD_COUNTED_MAX - 1, QUEUED - 2, QUEUED - 1].map(i => idAt(i))
  const runs = [...wanted.map(id => ({ id, waitsForSlot: 'long' })), { id: 'run_short', waitsForSlot: 'short' }]
  const each = new HeldBeforeEach(runs)
  while (!(await each.isDone(read)));
  const shown = wanted
    .map(id => each.places.get(id))
    .map(place => place && (place.isPart ? `${place.count}+` : place.count))
  // The last one has a higher priority, and is first.
  expect(shown).toEqual([1, 8, HELD_COUNTED_MAX - 1, `${HELD_COUNTED_MAX}+`, `${HELD_COUNTED_MAX}+`, 0])
  expect(each.places.get('run_short')).toEqual({ count: 0, isPart: false })
  const plan = reads.flat().map(({ sql, params }) => connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(params).join())
  expect(plan).toHaveLength(2)
  for (const each of plan) {
    expect(each).toContain('SEARCH runs USING INDEX runs_in_slot_queue (waits_for_slot=?)')
    expect(each).not.toContain('TEMP B-TREE')
  }
})

test('many queues share what is counted for a page, and no read counts more than one queue may', async () => {
  reads.length = 0
  const each = new HeldBeforeEach(
    Array.from({ length: 200 }, (_, i) => ({ id: idAt(600 + i), waitsForSlot: i === 0 ? 'long' : `q${i}` })),
  )
  while (!(await each.isDone(read)));
  const share = HELD_OF_PAGE_COUNTED_MAX / 200
  expect([...each.places]).toEqual([[idAt(600), { count: share, isPart: true }]])
  for (const queries of reads) expect(queries.length * share).toBeLessThanOrEqual(HELD_COUNTED_MAX)
})
