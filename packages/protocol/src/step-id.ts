// How a step's name becomes the key its result is stored under (contract §2.11, "Step id hashing").

import { createHash } from 'node:crypto'

/** Lowercase hex SHA-256 of the UTF-8 bytes of a step id. The engine treats the result as an opaque key. */
export function hashStepId(stepId: string): string {
  return createHash('sha256').update(stepId, 'utf8').digest('hex')
}

/** The id of the n-th use (from 0) of a step name within one run: `name`, `name:1`, `name:2`, ... */
export function positionalStepId(name: string, use: number): string {
  return use === 0 ? name : `${name}:${use}`
}
