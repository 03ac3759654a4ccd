// The contract on PostgreSQL.

import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import { keptOpen } from '../../kit/servers/kept-open.ts'
import { freshSchema, openEmptier } from '../../kit/servers/postgres.ts'
import { storeContract } from './store-contract.ts'

const url = await freshSchema()
const store = await openPostgresStore({ url })
const { empty, close } = await openEmptier(url)
onCleanup(() => Promise.all([store.close(), close()]))

storeContract(
  'PostgreSQL',
  keptOpen(store, empty),
  // An index entry has at most 2,700 bytes.
  { nameCharsMax: 256 },
)
