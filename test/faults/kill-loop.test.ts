// The suite `kill` of `npm run prove` with the count of its `--quick`, or more with `npm run test:all`. `PERDURE_KILLS=1000` for
// the long run, `PERDURE_SEED` to repeat the choices of an earlier run.

import { expect, test } from 'vitest'
import { kill, killRepeatedly } from '../../prove/suites/kill.ts'
import { seeded } from '../kit/index.ts'
import { isAll } from '../servers.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? (isAll ? 25 : kill.counts.quick))
const SEED = Number(process.env.PERDURE_SEED ?? Date.now() % 1_000_000)
const TITLE = `${KILLS} kills: no acknowledged event lost, no step run again, no effect twice`

test(TITLE, { timeout: 120_000 + KILLS * 4000 }, async () => {
  const { counts, problems } = await killRepeatedly({ count: KILLS, random: seeded(SEED) })
  const summary = `seed ${SEED}: ${JSON.stringify(counts)}`
  console.log(summary)
  expect(problems.slice(0, 40), `${problems.length} differences; ${summary}`).toEqual([])
})
