// kill -9 of the runner and the engine while steps write to output streams: a reader that applies rollbacks ends up with exactly
// the text of the stored results (docs/streams.md#what-a-crash-leaves). `PERDURE_KILLS=500` for a long run.

import { expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import { type EngineProcess, freshSchema, seeded, startEngine, tempStoreFile, unique, until } from '../../kit/index.ts'
import { followStream, streamingRunner } from '../../kit/runner/streaming-runner.ts'
import { freePort } from '../../kit/servers/free-port.ts'
import { isNight, SEED } from '../../part.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 4)

interface Result {
  result: { plan: string; left: string; right: string; notes: string }
}

const sqlite = async () => tempStoreFile()
const PLACES = [
  ['sqlite, over HTTP', sqlite, 1, 'http'],
  ['postgres, two engines, over Connect', freshSchema, 2, 'connect'],
  ...(isNight ? ([['sqlite, over Connect', sqlite, 1, 'connect']] as const) : []),
] as const

test.each(PLACES)(
  `${KILLS} kills while steps stream: %s`,
  {
    timeout: 120_000 + KILLS * 10_000,
  },
  async (_, freshStore, count, transport) => {
    const random = seeded(SEED)
    const storeFile = await freshStore()
    const ports = await Promise.all(Array.from({ length: count }, freePort))
    const engines = await Promise.all(
      ports.map(port => startEngine({ storeFile, args: ['--port', String(port)], env: { ENGINE_LOG_LEVEL: 'error' } })),
    )
    const app = unique('streaming')
    const port = transport === 'http' ? await freePort() : undefined
    const engineUrl = engines.map(({ url }) => url)
    const runner = streamingRunner({ app, engineUrl, port, chunks: 80, pauseMs: 4 }).start()
    const one = () => engines[random.between(0, count - 1)] as EngineProcess
    const isRegistered = async () => (await one().api.get('/workflows')).text.includes(app)
    await until(isRegistered, { what: 'the registration' })
    let kills = 0
    let rollbacks = 0
    for (let no = 0; kills < KILLS; no++) {
      const { runId } = await one().api.send({ name: app, id: `start-${no}` })
      let hasEnded = false
      const followed = ['answer', 'notes'].map(name => followStream(() => one().url, `/runs/${runId}/streams/${name}`))
      const killing = (async () => {
        // At most two kills per run, so that runs end.
        for (let left = 2; left > 0 && kills < KILLS; left--) {
          await new Promise(resolve => setTimeout(resolve, random.between(100, 900)))
          if (hasEnded) return
          kills++
          if (random.between(0, 1) === 0) {
            await runner.kill9()
            runner.start()
          } else await one().restart()
        }
      })()
      const [answer, notes] = await Promise.all(followed)
      hasEnded = true
      await killing
      const { result } = (await one().api.succeeded(runId)) as Result
      const read = Object.fromEntries(['plan', 'left', 'right'].map(step => [step, answer?.textOf(step)]))
      expect({ ...read, notes: notes?.textOf('notes') }).toEqual(result)
      const counted = await one().api.get(`/runs/${runId}/streams/notes?text=1`)
      expect(counted.text).toBe(result.notes)
      rollbacks += (answer?.rollbacks ?? 0) + (notes?.rollbacks ?? 0)
    }
    expect(rollbacks).toBeGreaterThan(0)
    expect(await violationsIn(storeFile)).toEqual([])
  },
)
