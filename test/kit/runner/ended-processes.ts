// Runs whose steps end the process of their runner, together with runs whose steps do not. For scenarios of one engine and of
// several.

import { expect } from 'vitest'
import type { Api } from '../http/api.ts'
import { freePort } from '../servers/free-port.ts'
import { until } from '../until.ts'
import { MortalRunner, type MortalRunnerOptions } from './mortal-runner.ts'

const LONG = 20
/** A busy machine takes long to start a process, and the runs wait for several starts in sequence. */
export const ENDS_MS_MAX = 240_000

/** Runs 20 long steps while some others end the process. The 20 succeed, the others fail. */
export async function endProcesses({ transport, apis, engineUrl, crashing: count = 5 }: EndedProcesses): Promise<void> {
  const [api] = apis as [Api]
  // A run that lost one try to another run's crash would escape a second loss only by luck.
  const tries = { handlerRetries: 2, crashMs: 100, longMs: 1000 }
  const runner = new MortalRunner({ transport, engineUrl, port: await freePort(), ...tries }).start()
  for (const each of apis)
    await until(async () => ((await each.get(`/runners?app=${runner.app}`)).json as unknown[]).length > 0)
  const send = async (name: string, length: number) => {
    const sent = Array.from({ length }, (_, i) => (apis[i % apis.length] as Api).send({ name }))
    return (await Promise.all(sent)).map(({ runId }) => runId)
  }
  const [long, crashing] = await Promise.all([send(runner.long, LONG), send(runner.crash, count)])
  for (const runId of long) expect((await api.reaches(runId, 'succeeded', ENDS_MS_MAX)).result).toBe('done')
  for (const runId of crashing)
    expect((await api.reaches(runId, 'failed', ENDS_MS_MAX)).error).toMatchObject({
      code: 'runner_unreachable',
      message: expect.stringMatching(/A step that ends its process or exhausts its memory can cause this/),
    })
  // Each run once for each of its last tries, and a few times for the groups before.
  expect(runner.deaths).toBeLessThan(count * tries.handlerRetries + 15)
}

interface EndedProcesses {
  transport: MortalRunnerOptions['transport']
  /** The clients of the engines. Events go to them in rotation. */
  apis: readonly Api[]
  engineUrl: string
  /** Default: 5. */
  crashing?: number
}
