// A step that computes for longer than the engine keeps a silent socket, on a runner over Connect: it runs once, and the log of
// its run reports the blocked runner. It takes most of a minute, so only `npm run test:night` has it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { onCleanup, startEngine, until } from '../../kit/index.ts'
import { isNight } from '../../part.ts'

const dist = fileURLToPath(new URL('../../../packages/sdk/dist', import.meta.url))
const RUNNER = `
  import { createWorkflow } from '${dist}/index.js'
  import { connect } from '${dist}/connect.js'
  const hash = createWorkflow({ name: 'hash' }, ({ step }) =>
    step.run('compute', () => {
      console.log('began')
      for (const until = performance.now() + 38_000; performance.now() < until; );
      return 'computed'
    }))
  connect({ app: 'shop', workflows: [hash], engineUrl: process.argv[1], log: () => {} })`

test.runIf(isNight)('a step that blocks the event loop for 38 s runs once', async () => {
  const { url, api } = await startEngine()
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', RUNNER, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onCleanup(() => void runner.kill('SIGKILL'))
  let said = ''
  runner.stdout.on('data', text => {
    said += text
  })
  await until(async () => ((await api.get('/runners')).json as unknown[]).length > 0, { what: 'the runner' })
  const { runId } = await api.send({ name: 'hash' })
  const run = await until(
    async () => {
      const run = await api.run(runId)
      return run.status === 'running' || run.status === 'queued' ? undefined : run
    },
    { what: 'the end of the run', deadlineMs: 90_000 },
  )
  expect([run.status, run.result, said]).toEqual(['succeeded', 'computed', 'began\n'])
  expect(await api.logs(runId)).toMatchObject([
    {
      level: 'warn',
      message: expect.stringMatching(/blocked for at least 3\d s while step "compute" ran.*worker thread/),
    },
  ])
})
