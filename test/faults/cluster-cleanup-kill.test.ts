// kill -9 of engines and runners while runs are undone, on SQLite and with two engines on PostgreSQL, by night over both
// transports on each. `PERDURE_KILLS=100` for a long run.

import { expect, test } from 'vitest'
import { PLACES, seeded } from '../kit/index.ts'
import { isNight, SEED } from '../part.ts'
import { killDuringCleanups } from './kill/cleanups.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 4)
const [sqlite, postgres] = PLACES
const SETTINGS = [
  ['http', ...sqlite],
  ['connect', ...postgres],
  ...(isNight
    ? ([
        ['connect', ...sqlite],
        ['http', ...postgres],
      ] as const)
    : []),
] as const

test.each(SETTINGS)(
  `${KILLS} kills over %s on %s: no rollback is left out, and none that is stored is executed again`,
  { timeout: 240_000 + KILLS * 30_000 },
  async (transport, _, freshStore, engines) => {
    const options = { storeFile: await freshStore(), engines, transport, kills: KILLS, random: seeded(SEED) }
    const { summary, problems } = await killDuringCleanups(options)
    console.log(`seed ${SEED}: ${summary}`)
    expect(problems, summary).toEqual([])
  },
)
