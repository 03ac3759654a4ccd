// Calls an operation once for each selected row, a few at a time, and returns how many succeeded.

import type { Calls, Input } from '@perdure/client'
import { writeClient } from '../session/session.ts'
import { noteFailure, type ReadId, renew } from './queries.ts'

/** Maximum number of rows of one action. */
export const EACH_MAX = 200
const AT_ONCE = 4

export interface EachOutcome {
  done: number
  refused: number
  /** The reason of the first refusal. */
  message?: string
}

/** Begins the calls in the order of the inputs. Afterwards the reads of `renews` are read again. */
export async function writeEach<Id extends ReadId>(
  id: Id,
  inputs: readonly Input<Id>[],
  { renews = [], atOnce = AT_ONCE }: { renews?: readonly (keyof Calls)[]; atOnce?: number } = {},
): Promise<EachOutcome> {
  const outcome: EachOutcome = { done: 0, refused: 0 }
  const rest = inputs.values()
  const call = writeClient()[id] as unknown as (input: Input<Id>) => Promise<unknown>
  const work = async () => {
    for (const input of rest) {
      try {
        await call(input)
        outcome.done++
      } catch (error) {
        noteFailure(error as Error)
        outcome.refused++
        outcome.message ??= (error as Error).message
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await renew(...renews)
  return outcome
}
