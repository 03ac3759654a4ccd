// A unit as the flat list of values that crosses to a writer (batches/requests.ts): its checks, then its operations, each
// in their order. Called by the store for each unit.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { changesCatalog, type Unit } from '../../../domain/model/change.ts'
import type { UnitRequest } from '../batches/requests.ts'
import { appendChange, appendOperation } from './change-operations.ts'
import { appendCheck } from './guard-checks.ts'

/** Changes between which the event loop goes on while a long unit is made ready. */
const CHANGES_PER_TURN = 1000

export function unitRequest({ guards, changes }: Unit): UnitRequest {
  const request: UnitRequest = [guards.length]
  for (const guard of guards) appendCheck(request, guard)
  for (const change of changes) appendChange(request, change)
  if (changes.some(changesCatalog)) appendOperation(request, 'catalog.changed')
  return request
}

/** Whether the unit takes long enough to be made ready in turns of the event loop. */
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
  // To weigh the request and post it takes as long again.
  await nextTurn()
  return request
}
