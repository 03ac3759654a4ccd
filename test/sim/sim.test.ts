// Runs the seeds of the simulation: the first ten in the gate, the next twenty in the rest, more with `npm run test:night`.
// `PERDURE_SEEDS=10000` runs that many, `PERDURE_SEED=n` repeats one.

import { expect, it } from 'vitest'
import { part } from '../part.ts'
import { shrink, simulate } from './core/simulate.ts'

const NOTHING_OFF: ReadonlySet<string> = new Set()
// The rest continues where the gate ends.
const { first, count: usual } = {
  gate: { first: 1, count: 10 },
  rest: { first: 11, count: 20 },
  night: { first: 1, count: 200 },
}[part ?? 'gate']
const one = process.env.PERDURE_SEED
const count = Number(process.env.PERDURE_SEEDS ?? usual)
const seeds = one === undefined ? Array.from({ length: count }, (_, i) => first + i) : [Number(one)]

/** Seeds that use many extras: one of the gate, one of the rest. */
const MANY_EXTRAS = [5, 19]
/** The digests of the seeds that were played. */
const digests = new Map<number, string>()

// One test per seed: a busy machine takes longer for all seeds together, not for one.
it.each(seeds)('keeps its promises under seed %i', async seed => {
  const verdict = await simulate({ seed, off: NOTHING_OFF })
  if (verdict.failure) throw new Error(await describeFailure(seed, verdict))
  expect(verdict.passes).toBeGreaterThan(0)
  digests.set(seed, verdict.digest)
})

it('repeats a seed to the letter', async () => {
  const seed = MANY_EXTRAS.find(each => digests.has(each)) ?? 5
  const digest = digests.get(seed) ?? (await simulate({ seed, off: NOTHING_OFF })).digest
  expect((await simulate({ seed, off: NOTHING_OFF })).digest).toBe(digest)
})

async function describeFailure(seed: number, failed: Awaited<ReturnType<typeof simulate>>): Promise<string> {
  const { verdict, off } = await shrink({ seed, off: NOTHING_OFF }, failed)
  return [
    `seed ${seed}: ${verdict.failure?.violation.message}`,
    `again with PERDURE_SEED=${seed}; the same with these switched off: ${[...off].join(' ') || 'none'}`,
    verdict.failure?.excerpt,
    verdict.failure?.violation.stack,
  ].join('\n\n')
}
