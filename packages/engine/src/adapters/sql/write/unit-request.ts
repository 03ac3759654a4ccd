// A unit as the flat list of values that crosses to a writer (batches/requests.ts): its checks, then its operations, each
// in their order. Called by the store for each unit.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { changesCatalog, type Unit } from '../../../domain/model/change.ts'
import type { UnitRequest } from '../batches/requests.ts'
import { appendChange, appendOperation } from './change-operations.ts'
import { appendCheck } from './guard-checks.ts'

/** Number of changes after which the preparation of a long unit yields to the event loop. */
const CHANGES_PER_TURN = 1000

export function unitRequest({ guards, changes }: Unit): UnitRequest {
  const request: UnitRequest = [guards.length]
  for (const guard of guards) appendCheck(request, guard)
  for (const change of changes) appendChange(request, change)
  if (changes.some(changesCatalog)) appendOperation(request, 'catalog.changed')
  return request
}

/** Whether the unit is so long that its preparation must yield to the event loop. */
export function isLong({ changes }: Unit): boolean {
  return changes.length > CHANGES_PER_TURN
}

/** The same for a long unit. */
export async function longUnitRequest({ guards, changes }: Unit): Promise<UnitRequest> {
  const request: UnitRequest = [guards.length]
  for (const guard of guards) appendCheck(request, guard)
  for (let at = 0; at < changes.length; at += CHANGES_PER_TURN) {
    await nextTurn()
    const end = Math.min(at + CHANGES_PER_TURN, changes.length)
    for (let i = at; i < end; i++) appendChange(request, changes[i] as Unit['changes'][number])
  }
  if (changes.some(changesCatalog)) appendOperation(request, 'catalog.changed')
  // To weigh and post the request takes as long again.
  await nextTurn()
  return request
}
