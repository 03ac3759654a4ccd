import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { storeContract } from './store-contract.ts'

storeContract('SQLite in memory', () => openSqliteStore({ file: ':memory:' }))
