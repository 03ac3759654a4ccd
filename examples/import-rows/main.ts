// `npm run example -- import-rows`: two tenants import at the same time, 1,000 rows and 200, with live progress.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { runExample, startRun } from '../shared/example.ts'
import { heading, note } from '../shared/show.ts'
import { BATCHES_MAX } from './workflows.ts'

const runner = new URL('./runner.ts', import.meta.url)

await runExample({ runner }, async ({ client }) => {
  const request = (tenant: string, file: string) => startRun(client, 'import/requested', { tenant, file })
  const large = await request('acme', 'customers-1000.csv')
  const small = await request('globex', 'customers-200.csv')

  heading('Progress')
  for (;;) {
    const runs = await Promise.all([large, small].map(id => client.getRun({ id })))
    const { items } = await client.listRuns({ app: 'imports', limit: 200 })
    const lines = runs.map(({ id, status }) => {
      const batches = items.filter(({ parentRunId }) => parentRunId === id)
      const count = (of: string) => batches.filter(batch => batch.status === of).length
      assert.ok(count('running') <= BATCHES_MAX, 'more batches of a tenant at once than its limit')
      const bar = '#'.repeat(count('succeeded')).padEnd(batches.length, '.')
      const tenant = id === large ? 'acme  ' : 'globex'
      return `${tenant} ${status.padEnd(9)} ${bar} ${count('running')} running, ${count('queued')} held`
    })
    for (const line of lines) note(line)
    if (runs.every(({ status }) => status === 'succeeded')) break
    assert.ok(!runs.some(({ status }) => status === 'failed'), 'an import failed')
    await setTimeout(150)
  }

  heading('Results')
  const [acme, globex] = await Promise.all([client.getRun({ id: large }), client.getRun({ id: small })])
  note(`acme   ${JSON.stringify(acme.result)}`)
  note(`globex ${JSON.stringify(globex.result)}`)
  const { batchesAtOnce, ...counts } = acme.result as { batchesAtOnce: number }
  assert.deepEqual(counts, { batches: 40, imported: 980, rejected: 20 })
  assert.ok(batchesAtOnce <= BATCHES_MAX, 'the database saw more batches of a tenant at once than its limit')
  assert.ok((globex.finishedAt ?? '') < (acme.finishedAt ?? ''), 'the small import had to wait for the large one')
})
