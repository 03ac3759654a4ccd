// Planted bugs of output streams. `planted.test.ts` shows that the simulation notices each of them.

import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import { StreamsDraft } from '../../../packages/engine/src/domain/streams/streams-draft.ts'
import { Announcer } from '../../../packages/engine/src/services/commit/announce.ts'
import { FaultyStore } from '../ports/faulty-store.ts'
import type { PlantedBug } from './planted.ts'
import { replace } from './planted-reports.ts'

export const PLANTED_IN_STREAMS: readonly PlantedBug[] = [
  {
    name: 'an append is visible before its commit',
    extras: ['streams'],
    always: ['commitFails', 'commitSlow'],
    install() {
      let newest: Announcer | undefined
      const restore = [
        replace(Announcer.prototype, 'announce', announce => {
          return function (this: Announcer, ...given) {
            newest = this
            announce.apply(this, given)
          }
        }),
        replace(FaultyStore.prototype, 'commit', commit => {
          return function (this: FaultyStore, unit) {
            const written = unit.changes.filter(isWritten)
            if (written.length > 0) newest?.announce(written)
            return commit.call(this, unit)
          }
        }),
      ]
      return () => {
        for (const each of restore) each()
      }
    },
  },
  {
    name: 'a rollback is forgotten after a crash',
    from: 7,
    extras: ['streams'],
    install: () =>
      replace(StreamsDraft.prototype, 'rollBack', rollBack => {
        return function (this: StreamsDraft, reason, isMeant) {
          if (reason === 'lost') this.settle(isMeant)
          else rollBack.call(this, reason, isMeant)
        }
      }),
  },
  {
    name: 'a merge loses the last row',
    extras: ['streams'],
    tamper: ({ guards, changes }) => ({ guards, changes: changes.flatMap(losingTheLastRow) }),
  },
]

function isWritten(change: Change): boolean {
  return change.type === 'stream.written'
}

/** The first of the two merges leaves a last row of one chunk unchanged, and the second drops it. */
function losingTheLastRow(change: Change): Change[] {
  if (change.type !== 'stream.merged') return [change]
  return [
    { ...change, end: change.end - 1 },
    { ...change, n: change.end - 2 },
  ]
}
