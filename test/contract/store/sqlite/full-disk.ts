// A process whose files cannot grow: writes runs until its store fails, and prints the answers of the store.

import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { EngineError } from '../../../../packages/engine/src/domain/model/errors.ts'
import { aRun, created, write } from '../samples.ts'

let troubles = 0
const store = await openSqliteStore({
  file: process.argv[2] as string,
  log: { error: () => void troubles++ },
})
const durable: string[] = []
const codes: string[] = []
const input = JSON.stringify('x'.repeat(1000))

while (codes.length === 0) {
  const runs = Array.from({ length: 100 }, () => aRun({ input }))
  const outcomes = await Promise.allSettled(runs.map(run => write(store, created(run))))
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') durable.push(runs[i]?.id as string)
    else codes.push(codeOf(outcome.reason))
  }
}
const after = await store.ping().then(() => 'fine', codeOf)
await store.close()
console.log(JSON.stringify({ durable, codes, after, troubles }))

function codeOf(error: unknown): string {
  return error instanceof EngineError ? error.code : String(error)
}
