// A store in memory runs the same SQL as a store on a file, but without threads. Only the parts of the contract are repeated here
// that depend on how units, claims and reads follow each other.

import { describe } from 'vitest'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { claimsContract } from './runs/claims.ts'
import { readsContract } from './runs/reads.ts'
import { commitContract } from './units/commit.ts'
import { outsidersContract } from './units/outsiders.ts'

describe('SQLite in memory', () => {
  const open = () => openSqliteStore({ file: ':memory:' })
  for (const contract of [commitContract, claimsContract, readsContract, outsidersContract]) contract(open)
})
