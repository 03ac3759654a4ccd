// The turns of a limit that steps share, as `GET /limits` and the explanation of a run show them
// (docs/steps.md#limits-that-steps-share).

import { durationText } from '@perdure/protocol'
import { timestamp } from '../text/timestamp.ts'

/** Maximum steps that are counted. */
export const TURNS_COUNTED_MAX = 10_000

/** The turns of one limit and key. */
export interface TurnPoolNow {
  app: string
  name: string
  /** '' if the limit has no key. */
  key: string
  /** The registered limit; absent if no runner registers it any more. */
  registered?: { limit: number; periodMs: number }
  /** Turns that count now. */
  taken: number
  /** Number of waiting steps; the maximum count plus one stands for more. */
  waiting: number
  /** When the step that has waited longest requested its turn. */
  oldestAt?: number
  /** When the next turn is free, if that is known. */
  nextAt?: number
  /** Number of steps before the step of the query, while that step waits. */
  ahead?: number
}

/** The part of the sentence about a run that states what its step waits for. */
export function turnText({ key = '', name }: { name?: string; key?: string }, pool: TurnPoolNow | undefined): string {
  const limit = `its turn at the limit "${name}"${key === '' ? '' : ` for key "${key}"`}`
  if (!pool) return limit
  if (!pool.registered) return `${limit}, which no runner of app "${pool.app}" registers at present`
  const { limit: most, periodMs } = pool.registered
  const rate = ` (${most} in ${durationText(periodMs)})`
  if (pool.ahead === undefined) return `${limit}${rate}, and its turn is available now`
  const count = pool.ahead > TURNS_COUNTED_MAX ? `at least ${TURNS_COUNTED_MAX}` : String(pool.ahead)
  const ahead = `${count} ${pool.ahead === 1 ? 'step' : 'steps'} ahead of it`
  const next = pool.nextAt === undefined ? '' : `, next turn at ${timestamp(pool.nextAt)}`
  return `${limit}${rate}, ${ahead}${next}`
}
