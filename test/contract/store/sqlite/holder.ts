// A process that keeps a store open, prints the ids of runs that are durable, and writes until it is killed.

import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { aLeasedRun, aStep, created, write } from '../samples.ts'

const store = await openSqliteStore({ file: process.argv[2] as string })
const durable: string[] = []

async function writeRun(): Promise<void> {
  const run = aLeasedRun()
  await write(store, created(run, aStep(run)))
  await write(store, { type: 'step.recorded', step: aStep(run, { index: 1 }) })
  durable.push(run.id)
}

await Promise.all(Array.from({ length: 100 }, writeRun))
process.send?.(durable)
for (;;) await Promise.all(Array.from({ length: 100 }, writeRun))
