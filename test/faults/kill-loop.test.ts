// The suite `kill` of `npm run prove`: 3 kills in the gate, then more. `PERDURE_KILLS=1000` for the long run, `PERDURE_SEED`
// for other choices. Without it every run makes the same choices, except `npm run test:night`.

import { expect, test } from 'vitest'
import { killRepeatedly } from '../../prove/suites/kill.ts'
import { seeded } from '../kit/index.ts'
import { part, SEED } from '../part.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? { gate: 3, rest: 6, night: 25 }[part ?? 'rest'])
const TITLE = `${KILLS} kills: no acknowledged event lost, no step run again, no effect twice`

test(TITLE, { timeout: 180_000 + KILLS * 4000 }, async () => {
  const { counts, problems } = await killRepeatedly({ count: KILLS, random: seeded(SEED) })
  const summary = `seed ${SEED}: ${JSON.stringify(counts)}`
  console.log(summary)
  expect(problems.slice(0, 40), `${problems.length} differences; ${summary}`).toEqual([])
})
