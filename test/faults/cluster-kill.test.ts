// The suite `cluster` of `npm run prove` with a few faults. `PERDURE_FAULTS=200` for the long run, `PERDURE_SEED` to
// repeat the choices of an earlier run.

import { expect, test } from 'vitest'
import { disturbCluster } from '../../prove/suites/cluster.ts'
import { seeded } from '../kit/index.ts'
import { SEED } from '../part.ts'

const FAULTS = Number(process.env.PERDURE_FAULTS ?? 3)
const TITLE = `${FAULTS} faults over three engines: nothing lost, nothing twice, no limit broken, progress after each`

test(TITLE, { timeout: 180_000 + FAULTS * 15_000 }, async () => {
  const { counts, problems } = await disturbCluster({ random: seeded(SEED), isOver: faults => faults >= FAULTS })
  const summary = `seed ${SEED}: ${JSON.stringify(counts)}`
  console.log(summary)
  expect(problems.slice(0, 40), `${problems.length} differences; ${summary}`).toEqual([])
})
