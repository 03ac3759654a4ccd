// The SDK's replay with the real engine, pass by pass (HTTP) and with checkpoints (Connect): the same run either way, and
// warnings are stored once, however many passes report them.

import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { describe, expect, test } from 'vitest'
import { onCleanup, scenario, unique } from '../../kit/index.ts'

const { api, url: engineUrl } = await scenario({ realTime: true })
const log = () => undefined

/** Two releases of one workflow: a step before the wait gets another name. */
let release = 1
const renamed = createWorkflow({ name: 'renamed' }, async ({ step }) => {
  await step.run('kept', () => 1)
  await step.run(release === 1 ? 'old' : 'new', () => 2)
  await step.waitForEvent('wait', { event: 'go' })
  await step.run('after', () => 3)
})

const forgetful = createWorkflow({ name: 'forgetful' }, async ({ step }) => {
  void step.run('forgotten', () => 1)
  await step.run('a', () => 1)
  await step.run('b', () => 2)
})

let attempts = 0
const times = new Set<number>()
const busy = createWorkflow(
  { name: 'busy', retry: { maxAttempts: 3, initialMs: 1, jitter: 0 } },
  async ({ step, ctx }) => {
    ctx.logger.info('begin')
    const nothing = await step.run('nothing', () => undefined)
    const branch = async (name: string) => {
      const first = await step.run('shared', ({ logger }) => {
        logger.info(`${name} first`)
        return name
      })
      return `${first} ${await step.run('shared', () => `${name} second`)}`
    }
    const both = await Promise.all([branch('one'), branch('two')])
    ctx.logger.info('between')
    const tries = await step.run('flaky', () => {
      attempts++
      if (attempts % 3 !== 0) throw new Error('flaky')
      return 'done'
    })
    const error = await step
      .run('fatal', () => Promise.reject(new RangeError('no')))
      .catch(({ name, message }: Error) => `${name}: ${message}`)
    times.add(await ctx.now())
    await step.sleep('pause', 1)
    ctx.logger.info('end')
    return { nothing, both, tries, error, times: times.size, uuid: (await ctx.uuid()).length }
  },
)

type Start = (app: string) => Promise<void>
const transports: [string, Start][] = [
  [
    'pass by pass',
    async app => {
      const runner = await serve({ app, workflows: [renamed, forgetful, busy], port: 0, engineUrl, log })
      onCleanup(() => runner.close())
      await runner.ready
    },
  ],
  [
    'with checkpoints',
    async app => {
      const workflows = [renamed, forgetful, busy]
      const runner = connect({ app, workflows, engineUrl, log, handleSignals: false })
      onCleanup(() => runner.close())
      await runner.ready
    },
  ],
]

interface Line {
  scope: string
  level: string
  message: string
}

async function logsOf(runId: string): Promise<Line[]> {
  return (await api.get(`/runs/${runId}/logs`)).json as Line[]
}

describe.each(transports)('%s', (_, open) => {
  test('a run of many steps gives the same result, and each of its lines once', async () => {
    const app = unique('app')
    times.clear()
    await open(app)
    const { runId } = await api.send({ name: 'busy', targetApp: app })
    expect((await api.succeeded(runId as string)).result).toEqual({
      nothing: null,
      both: ['one one second', 'two two second'],
      tries: 'done',
      error: 'RangeError: no',
      times: 1,
      uuid: 36,
    })
    const lines = (await logsOf(runId as string)).map(({ scope, message }) => `${scope}: ${message}`)
    expect(lines.filter(line => line.startsWith('@root'))).toEqual(['@root: begin', '@root: between', '@root: end'])
    expect(lines.filter(line => !line.startsWith('@root'))).toEqual(['shared: one first', 'shared: two first'])
  })

  test('a step that a new release no longer has is reported once', async () => {
    const app = unique('app')
    release = 1
    await open(app)
    const { runId } = await api.send({ name: 'renamed', targetApp: app })
    await api.reaches(runId as string, 'waiting')
    release = 2
    await api.send({ name: 'go' })
    await api.succeeded(runId as string)
    const lines = await logsOf(runId as string)
    expect(lines).toMatchObject([
      { scope: '@replay', level: 'warn', message: expect.stringMatching(/[12] of the \d stored steps/) },
    ])
  })

  test('a step that is never awaited is reported once', async () => {
    const app = unique('app')
    await open(app)
    const { runId } = await api.send({ name: 'forgetful', targetApp: app })
    await api.succeeded(runId as string)
    expect(await logsOf(runId as string)).toMatchObject([
      { scope: '@replay', message: expect.stringContaining('Step "forgotten" was never awaited') },
    ])
  })
})
