// What every Store adapter promises, told once. Each adapter's test file opens stores and calls this.

import { describe } from 'vitest'
import { claimsContract } from './claims.ts'
import { commitContract } from './commit.ts'
import { eventsContract } from './events.ts'
import { namespacesContract } from './namespaces.ts'
import { outsidersContract } from './outsiders.ts'
import { readsContract } from './reads.ts'
import { registryContract } from './registry.ts'
import type { OpenStore } from './samples.ts'
import { stringsContract } from './strings.ts'
import { timelineContract } from './timeline.ts'

/** `open` answers an empty store each time; the contract closes it. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    commitContract(open)
    claimsContract(open)
    timelineContract(open)
    eventsContract(open)
    outsidersContract(open)
    registryContract(open)
    readsContract(open)
    stringsContract(open)
    namespacesContract(open)
  })
}
