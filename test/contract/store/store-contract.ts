// The promises of the Store port, tested on every adapter. Each adapter's test file opens stores and calls `storeContract`.

import { describe } from 'vitest'
import { adminContract } from './resources/admin.ts'
import { budgetsContract } from './resources/budgets.ts'
import { controlContract } from './resources/control.ts'
import { deliveriesContract } from './resources/deliveries.ts'
import { deliveryCountsContract } from './resources/delivery-counts.ts'
import { documentsContract } from './resources/documents.ts'
import { endpointPostsContract } from './resources/endpoint-posts.ts'
import { eventsContract } from './resources/events.ts'
import { matchesContract } from './resources/matches.ts'
import { pruneContract } from './resources/prune.ts'
import { registryContract } from './resources/registry.ts'
import { schedulesContract } from './resources/schedules.ts'
import { stepTurnsContract } from './resources/step-turns.ts'
import { streamsContract } from './resources/streams.ts'
import { timersContract } from './resources/timers.ts'
import { attributesContract } from './runs/attributes.ts'
import { claimsContract } from './runs/claims.ts'
import { limitsContract } from './runs/limits.ts'
import { liveContract } from './runs/live.ts'
import { readsContract } from './runs/reads.ts'
import { rollupsContract } from './runs/rollups.ts'
import { roomContract } from './runs/room.ts'
import { runListsContract } from './runs/run-lists.ts'
import { slotsContract } from './runs/slots.ts'
import { startQueuesContract } from './runs/start-queues.ts'
import { timelineContract } from './runs/timeline.ts'
import { turnsContract } from './runs/turns.ts'
import type { OpenStore } from './samples.ts'
import { commitContract } from './units/commit.ts'
import { longNamesContract } from './units/long-names.ts'
import { namespacesContract } from './units/namespaces.ts'
import { outsidersContract } from './units/outsiders.ts'
import { stringsContract } from './units/strings.ts'

/** `open` returns an empty store at each call; the contract closes it. */
export function storeContract(name: string, open: OpenStore, { nameCharsMax }: { nameCharsMax?: number } = {}): void {
  describe(`store contract: ${name}`, () => {
    commitContract(open)
    claimsContract(open)
    roomContract(open)
    slotsContract(open)
    startQueuesContract(open)
    turnsContract(open)
    timelineContract(open)
    rollupsContract(open)
    eventsContract(open)
    matchesContract(open)
    liveContract(open)
    limitsContract(open)
    outsidersContract(open)
    registryContract(open)
    budgetsContract(open)
    controlContract(open)
    deliveriesContract(open)
    deliveryCountsContract(open)
    endpointPostsContract(open)
    documentsContract(open)
    readsContract(open)
    runListsContract(open)
    attributesContract(open)
    stringsContract(open, nameCharsMax)
    longNamesContract(open)
    namespacesContract(open)
    adminContract(open)
    stepTurnsContract(open)
    streamsContract(open)
    timersContract(open)
    schedulesContract(open)
    pruneContract(open)
  })
}
