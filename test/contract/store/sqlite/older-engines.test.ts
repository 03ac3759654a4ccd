// Lists find a run by an attribute and its end, whether or not its rows note the end: an engine of the version before, which
// keeps running during a rollout, does not note it.

import { expect, it } from 'vitest'
import { Connection } from '../../../../packages/engine/src/adapters/sql/sqlite/connection.ts'
import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { onCleanup } from '../../../kit/cleanup.ts'
import { tempStoreFile } from '../../../kit/temp.ts'
import { aRun, created, moved, NOW, NS, write } from '../samples.ts'

it('finds a run by an attribute and the status that an older engine gave it', async () => {
  const file = tempStoreFile()
  const before = await openSqliteStore({ file })
  const run = aRun({ attributes: { vip: true } })
  await write(before, created(run))
  await before.close()
  const connection = await Connection.open(file, { readOnly: false })
  connection.exec(`UPDATE runs SET status = 'failed', finished_at = ${NOW}, available_at = NULL`)
  connection.close()
  const store = await openSqliteStore({ file })
  onCleanup(() => store.close())
  const found = async (status: 'failed' | 'succeeded' | 'queued', sort?: 'app') =>
    (await store.in(NS).runs({ attribute: ['vip:true'], status: [status], limit: 9, ...(sort && { sort }) })).map(
      ({ id }) => id,
    )
  expect([await found('failed'), await found('failed', 'app')]).toEqual([[run.id], [run.id]])
  expect([await found('succeeded'), await found('queued')]).toEqual([[], []])
})

it('notes the end of a run with its attributes', async () => {
  const file = tempStoreFile()
  const store = await openSqliteStore({ file })
  const run = aRun({ attributes: { vip: true, plan: 'pro' } })
  const end = { status: 'failed', finishedAt: NOW, finishedSeq: 9, availableAt: undefined, fence: 2 } as const
  await write(store, created(run), created(aRun({ attributes: { vip: true } })))
  await write(store, moved(run, end))
  await store.close()
  const connection = await Connection.open(file, { readOnly: true })
  const rows = connection.prepare('SELECT attribute, ended FROM run_attributes ORDER BY ended, attribute').all([])
  connection.close()
  expect(rows).toEqual([
    ['plan:pro', 'failed'],
    ['vip:true', 'failed'],
    ['vip:true', 'live'],
  ])
})
