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

// One test per seed: a busy machine takes longer for all seeds together, not for one.
it.each(seeds)('keeps its promises under seed %i', async seed => {
  const verdict = await simulate({ seed, off: NOTHING_OFF })
  if (verdict.failure) throw new Error(await describeFailure(seed, verdict))
  expect(verdict.passes).toBeGreaterThan(0)
})

it('repeats a seed to the letter', async () => {
  for (const seed of [3, 4]) {
    const first = await simulate({ seed, off: NOTHING_OFF })
    const second = await simulate({ seed, off: NOTHING_OFF })
    expect(second.digest).toBe(first.digest)
  }
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
