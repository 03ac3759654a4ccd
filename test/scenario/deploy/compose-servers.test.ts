// compose.yaml without Docker: the engine and the example runner, built by executing the stages of the Dockerfile in
// folders, work together with the settings of the file, on the PostgreSQL and Redis of the tests.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WORKDIR } from '../../kit/deploy/build-stages.ts'
import { readCompose, type Service } from '../../kit/deploy/compose-file.ts'
import { imageStages } from '../../kit/deploy/deploy-files.ts'
import { environmentOf, listOf, type Stage } from '../../kit/deploy/dockerfile.ts'
import { buildImages, launch } from '../../kit/deploy/run-image.ts'
import { Api, freshSchema, onCleanup, REDIS_URL, until } from '../../kit/index.ts'
import { freePort } from '../../kit/servers/free-port.ts'
import { deleteKeysOf } from '../../kit/servers/redis.ts'

/** Node before 22.18 does not run TypeScript; the runner's image has a newer version. */
const asInImage = 'typescript' in process.features ? [] : ['--import', import.meta.resolve('tsx')]

test('what the Dockerfile builds comes up as compose.yaml starts it, and the example runs', async () => {
  const { services, given } = readCompose()
  const { stages } = imageStages()
  const images = buildImages()
  const port = String(await freePort())
  const store = await freshSchema()
  const start = async ({ build, environment }: Service, env: Record<string, string>, flags: string[] = []) => {
    const stage = stages.find(one => one.name === build?.target) as Stage
    const folder = join(await images.build(stage.name), WORKDIR)
    const [node = '', ...args] = [...listOf(stage, 'ENTRYPOINT'), ...listOf(stage, 'CMD')]
    const command = [node, ...flags, ...args]
    return launch({ folder, env: { ...environmentOf(stage), ...environment, ...env }, command })
  }

  const base = `http://127.0.0.1:${port}`
  const engine = await start(services.engine as Service, {
    ENGINE_STORE: store,
    ENGINE_QUEUE: REDIS_URL,
    ENGINE_LIMITER: REDIS_URL,
    ENGINE_PORT: port,
  })
  onCleanup(() => deleteKeysOf(store))
  await engine.answers(`${base}/readyz`)
  const runner = await start(services.runner as Service, { ENGINE_URL: base }, asInImage)
  const isReady = () => {
    if (runner.said.stderr !== '') throw new Error(runner.said.stderr)
    return runner.said.stdout.includes('is ready')
  }
  await until(isReady, { what: 'the runner ready' })

  const api = new Api(() => base, given.PERDURE_SECRET_KEY)
  const started = await api.post('/workflows/shop/ship-order/runs', { input: { orderId: '7' } })
  const { id } = started.json as { id: string }
  const ended = await api.get(`/runs/${id}/result?wait=30s`)
  expect(ended.json).toMatchObject({ status: 'succeeded', result: { label: 'LABEL-7' } })
})
