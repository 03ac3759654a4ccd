// Derives the id under which a step's result is stored from the step's name. The SDK sends the id, the engine stores
// it.

import { createHash } from 'node:crypto'

/** Lowercase hex SHA-256 of the UTF-8 bytes of a step id. The engine treats the result as an opaque key. */
export function hashStepId(stepId: string): string {
  return createHash('sha256').update(stepId, 'utf8').digest('hex')
}

/** The id of the n-th use (from 0) of a step name within one run: `name`, `name:1`, `name:2`, ... */
export function positionalStepId(name: string, use: number): string {
  return use === 0 ? name : `${name}:${use}`
}
