// kill -9 of engines and runners while runs are undone, with two engines on PostgreSQL. `PERDURE_KILLS=100` for a long run.

import { expect, test } from 'vitest'
import { freshSchema, seeded } from '../kit/index.ts'
import { SEED } from '../part.ts'
import { killDuringCleanups } from './kill/cleanups.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 4)

test.each(['http', 'connect'] as const)(
  `${KILLS} kills over %s: no rollback is left out, and none that is stored is executed again`,
  { timeout: 240_000 + KILLS * 30_000 },
  async transport => {
    const options = { storeFile: await freshSchema(), engines: 2, transport, kills: KILLS, random: seeded(SEED) }
    const { summary, problems } = await killDuringCleanups(options)
    console.log(`seed ${SEED}: ${summary}`)
    expect(problems, summary).toEqual([])
  },
)
