// `powerloss`: an engine process is recorded with all its writes and syncs, and its disk is rebuilt in the states that a power
// loss may leave at many moments. Every acknowledged event and every step result that a runner has seen is there. Needs `strace`,
// but not root (docs/operating.md#what-durable-means).

import type { Seeded } from '../../test/kit/seeded.ts'
import { UNSYNCED } from '../powerloss/disk.ts'
import { judge } from '../powerloss/judge.ts'
import { hasStrace, type Recording, record } from '../powerloss/record.ts'
import type { Finding, Order, Suite } from '../suite.ts'

/** A store that is damaged at one cut is damaged at many. */
const PROBLEMS_MAX = 40

export const powerloss: Suite = {
  proves: 'power loss at any write: no acknowledged event or seen step result lost',
  unit: 'cuts',
  counts: { quick: 8, full: 1000 },
  deadlineMs: { base: 180_000, each: 5000 },
  run: cutPower,
}

export const NO_STRACE = 'strace cannot run here'

async function cutPower(order: Order): Promise<Finding> {
  if (!hasStrace()) return { counts: {}, problems: [], skipped: [NO_STRACE] }
  return judgeCuts(await record(), order)
}

/** `lies`: a planted bug of the disk, which acknowledges syncs and carries out none. */
export async function judgeCuts(
  recording: Recording,
  { count, random, lies = false }: { count: number; random: Seeded; lies?: boolean },
): Promise<Finding> {
  const { operations, tokens } = recording
  const isWritten = (kind: string) => kind === 'write' || kind === 'sync'
  const counts = {
    writes: operations.filter(({ kind }) => kind === 'write').length,
    syncs: operations.filter(({ kind }) => kind.startsWith('sync')).length,
    'disks rebuilt': 0,
    'events compared': 0,
    'results compared': 0,
  }
  const recorded = operations.filter(({ kind }) => kind === 'accepted').length
  const problems = recorded === tokens.size ? [] : [`${tokens.size} events acknowledged, ${recorded} recorded`]
  if (!operations.some(({ kind }) => isWritten(kind))) problems.push('no write was recorded')
  const promised = operations.flatMap(({ kind }, i) => (kind === 'accepted' || kind === 'invoked' ? [i] : []))
  for (let i = 0; i < count && problems.length < PROBLEMS_MAX; i++) {
    // Half of the cuts come right after something became known, when a missing sync does the most damage.
    const isHard = i % 2 === 0
    const cut = isHard
      ? (promised[random.between(0, promised.length - 1)] as number) + 1
      : random.between(1, operations.length)
    const unsynced = UNSYNCED[random.between(0, UNSYNCED.length - 1)] as (typeof UNSYNCED)[number]
    const judged = await judge(recording, { cut, unsynced, random, lies })
    counts['disks rebuilt']++
    counts['events compared'] += judged.accepted
    counts['results compared'] += judged.results
    problems.push(...judged.problems)
  }
  return { counts, problems }
}
