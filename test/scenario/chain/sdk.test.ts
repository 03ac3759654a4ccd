// The SDK's `ctx.continueAs`, over HTTP and over Connect: steps before it, and the handle of a client that follows the runs.

import { createClient, createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario, unique } from '../../kit/index.ts'

const { api, url } = await scenario({ realTime: true })

function pages() {
  return createWorkflow({ name: unique('pages') }, async ({ event, step, ctx }: WorkflowArgs<{ page: number }>) => {
    const { page } = event.data
    await step.run('first', () => page)
    await step.emit('tell', { event: 'nobody' })
    const more = await step.run('last', () => page < 4)
    return more ? ctx.continueAs({ page: page + 1 }) : { pages: page }
  })
}

test.each(['HTTP', 'Connect'])('over %s, each run has its steps, and the handle gets the last result', async over => {
  const workflow = pages()
  const options = { app: unique('app'), workflows: [workflow], engineUrl: url, log: () => {} }
  const runner = over === 'HTTP' ? await serve({ ...options, port: 0 }) : connect(options)
  onCleanup(() => runner.close())
  await runner.ready
  const client = createClient({ url })
  const handle = await client.start(workflow, { page: 1 }, { app: options.app })
  expect(await handle.result()).toEqual({ pages: 4 })
  expect(await handle.status()).toBe('succeeded')
  let id: string | undefined = handle.runId
  while (id !== undefined) {
    expect((await api.steps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'first succeeded',
      'tell succeeded',
      'last succeeded',
    ])
    id = (await api.run(id)).continuedAs
  }
})
