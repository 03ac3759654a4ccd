// A process that opens a store and closes it. It ends by itself only if the store leaves nothing open.

import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { aRun, created, write } from '../samples.ts'

const store = await openSqliteStore({ file: process.argv[2] as string })
await write(store, created(aRun()))
console.log('open')
// Only the store keeps the process alive while it waits here.
setTimeout(async () => {
  await store.close()
  console.log('closed')
}, 50).unref()
