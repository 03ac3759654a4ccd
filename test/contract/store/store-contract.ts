// What every Store adapter promises, told once. Each adapter's test file opens stores and calls this.

import { describe } from 'vitest'
import { adminContract } from './admin.ts'
import { claimsContract } from './claims.ts'
import { commitContract } from './commit.ts'
import { controlContract } from './control.ts'
import { deliveriesContract } from './deliveries.ts'
import { eventsContract } from './events.ts'
import { linesContract } from './lines.ts'
import { liveContract } from './live.ts'
import { longNamesContract } from './long-names.ts'
import { namespacesContract } from './namespaces.ts'
import { outsidersContract } from './outsiders.ts'
import { pruneContract } from './prune.ts'
import { readsContract } from './reads.ts'
import { registryContract } from './registry.ts'
import { runListsContract } from './run-lists.ts'
import type { OpenStore } from './samples.ts'
import { slotsContract } from './slots.ts'
import { stringsContract } from './strings.ts'
import { timelineContract } from './timeline.ts'
import { timersContract } from './timers.ts'

/** `open` answers an empty store each time; the contract closes it. */
export function storeContract(
  name: string,
  open: OpenStore,
  { nameCharsMax }: { nameCharsMax?: number } = {},
): void {
  describe(`store contract: ${name}`, () => {
    commitContract(open)
    claimsContract(open)
    slotsContract(open)
    linesContract(open)
    timelineContract(open)
    eventsContract(open)
    liveContract(open)
    outsidersContract(open)
    registryContract(open)
    controlContract(open)
    deliveriesContract(open)
    readsContract(open)
    runListsContract(open)
    stringsContract(open, nameCharsMax)
    longNamesContract(open)
    namespacesContract(open)
    adminContract(open)
    timersContract(open)
    pruneContract(open)
  })
}
