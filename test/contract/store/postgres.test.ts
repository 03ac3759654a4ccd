// The contract on PostgreSQL.

import { openPostgresStore } from '../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { emptySchema, freshSchema } from '../../kit/postgres.ts'
import { storeContract } from './store-contract.ts'

const url = await freshSchema()

storeContract(
  'PostgreSQL',
  async () => {
    const store = await openPostgresStore({ url })
    await emptySchema(url)
    return store
  },
  // An entry of an index has 2,700 bytes at most.
  { nameCharsMax: 256 },
)
