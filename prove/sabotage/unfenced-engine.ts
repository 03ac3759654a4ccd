// An engine process with a planted bug: its commits check neither the fence nor the steps of a run. Started by
// `fencing` on behalf of `teeth`.

import { main } from '@perdure/cli'
import { SqlStore } from '../../packages/engine/src/adapters/sql/store/sql-store.ts'
import type { Unit } from '../../packages/engine/src/domain/model/change.ts'

const { commit } = SqlStore.prototype
SqlStore.prototype.commit = function (this: SqlStore, { guards, changes }: Unit) {
  const kept = guards.filter(({ type }) => type !== 'run' && type !== 'steps')
  return commit.call(this, { guards: kept, changes })
}

process.exitCode = await main(process.argv.slice(2))
