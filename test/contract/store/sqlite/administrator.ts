// A process that adds keys to a store on a file while its engine runs. admin.test.ts starts it.

import { openSqliteAdmin } from '../../../../packages/engine/src/adapters/sql/sqlite/admin.ts'
import { aKey } from '../resources/admin.ts'

const [file, count] = process.argv.slice(2) as [string, string]
for (let i = 0; i < Number(count); i++) {
  const { admin, close } = await openSqliteAdmin(file)
  await admin.addKey(aKey({ id: `key_${i}` }))
  await close()
}
process.disconnect?.()
