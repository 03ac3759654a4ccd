// Runs the seeds of the simulation: the first ten in the gate, then as many as `planted.test.ts` may need to notice a bug, with
// `npm run test:night` more.
// `PERDURE_SEEDS=10000` runs that many, `PERDURE_SEED=n` repeats one.

import { expect, it } from 'vitest'
import { part } from '../part.ts'
import { shrink, simulate } from './core/simulate.ts'

const NOTHING_OFF: ReadonlySet<string> = new Set()
const SEEDS_DEFAULT = { gate: 10, rest: 60, night: 200 }[part ?? 'rest']
const one = process.env.PERDURE_SEED
const count = Number(process.env.PERDURE_SEEDS ?? SEEDS_DEFAULT)
const seeds = one === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(one)]

it(`keeps its promises under ${seeds.length} seeds`, { timeout: 180_000 + seeds.length * 2000 }, async () => {
  const began = performance.now()
  let runs = 0
  let passes = 0
  for (const seed of seeds) {
    const verdict = await simulate({ seed, off: NOTHING_OFF })
    runs += verdict.runs
    passes += verdict.passes
    if (verdict.failure) throw new Error(await describeFailure(seed, verdict))
  }
  const seconds = (performance.now() - began) / 1000
  console.info(
    `${seeds.length} seeds, ${runs} runs, ${passes} passes in ${seconds.toFixed(1)} s: ${(seeds.length / seconds).toFixed(1)} seeds/s`,
  )
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
