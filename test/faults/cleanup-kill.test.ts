// kill -9 of the engine and of runners while runs are undone, on SQLite. `PERDURE_KILLS=100` for a long run.

import { expect, test } from 'vitest'
import { seeded, tempStoreFile } from '../kit/index.ts'
import { SEED } from '../part.ts'
import { killDuringCleanups } from './kill/cleanups.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 4)

test.each(['http', 'connect'] as const)(
  `${KILLS} kills over %s: no rollback is left out, and none that is stored is executed again`,
  { timeout: 240_000 + KILLS * 20_000 },
  async transport => {
    const options = { storeFile: tempStoreFile(), engines: 1, transport, kills: KILLS, random: seeded(SEED) }
    const { summary, problems } = await killDuringCleanups(options)
    console.log(`seed ${SEED}: ${summary}`)
    expect(problems, summary).toEqual([])
  },
)
