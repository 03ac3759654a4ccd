// The contract on PostgreSQL.

import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { freshSchema, openEmptier } from '../../kit/postgres.ts'
import { storeContract } from './store-contract.ts'

// One store for all tests, emptied before each: opening one takes longer than most of them.
const url = await freshSchema()
const store = await openPostgresStore({ url })
const { empty, close } = await openEmptier(url)
onCleanup(() => Promise.all([store.close(), close()]))

storeContract(
  'PostgreSQL',
  async () => {
    await empty()
    return new Proxy(store, { get: (target, name) => (name === 'close' ? leaveOpen : bound(target, name)) })
  },
  // An entry of an index has 2,700 bytes at most.
  { nameCharsMax: 256 },
)

async function leaveOpen(): Promise<void> {}

/** Its private parts are its own alone. */
function bound(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target) as unknown
  return typeof value === 'function' ? value.bind(target) : value
}
