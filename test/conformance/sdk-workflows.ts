// The workflows of docs/conformance.md, written with the SDK.

import { createWorkflow, NonRetriableError, type WorkflowArgs } from '@perdure/sdk'

type Args<Data> = WorkflowArgs<Data>

const fail = (message: string) => () => {
  throw new Error(message)
}

export const SDK_WORKFLOWS = [
  createWorkflow({ name: 'conform-sequence' }, async ({ event, step }: Args<{ n: number }>) => {
    const sum = await step.run('add', () => event.data.n + 1)
    return { result: await step.run('double', () => sum * 2) }
  }),
  createWorkflow({ name: 'conform-repeat' }, async ({ step }) => {
    let sum = 0
    for (const n of [1, 2, 3]) sum += await step.run('Größe ✓', () => n)
    return { sum }
  }),
  createWorkflow({ name: 'conform-parallel' }, async ({ step }) => {
    const [left, right] = await Promise.all([
      step.run('left', () => 'L'),
      step.run('right', () => 'R'),
      step.sleep('rest', '1m'),
    ])
    return { parts: [left, right] }
  }),
  createWorkflow({ name: 'conform-retry' }, async ({ step }) =>
    step.run('flaky', ({ attempt }) => (attempt < 2 ? fail('not yet')() : 'done')),
  ),
  createWorkflow({ name: 'conform-final' }, async ({ step }) =>
    step.run('hopeless', () => {
      throw new NonRetriableError('never')
    }),
  ),
  createWorkflow({ name: 'conform-catch' }, async ({ step }) => {
    try {
      return { risky: await step.run('risky', fail('declined')) }
    } catch (error) {
      return { fallback: await step.run('fallback', () => (error as Error).message) }
    }
  }),
  createWorkflow({ name: 'conform-fail' }, async ({ step }) => step.run('risky', fail('declined'))),
  createWorkflow({ name: 'conform-throw' }, fail('broken')),
  createWorkflow({ name: 'conform-sleep' }, async ({ event, step }: Args<{ atMs: number }>) => {
    await step.sleep('nap', 1500)
    await step.sleepUntil('until', event.data.atMs)
    return { awake: true }
  }),
  createWorkflow({ name: 'conform-wait' }, async ({ step }) => {
    const approval = await step.waitForEvent<{ by: string }>('approval', {
      event: 'conform.approved',
      if: 'async.data.id == event.data.id',
      timeout: '1m',
    })
    return { by: approval?.data.by ?? null }
  }),
  createWorkflow({ name: 'conform-child' }, async ({ event, step }: Args<{ n: number }>) => {
    try {
      return { child: await step.runWorkflow('sum', { workflow: 'conform-sequence', data: { n: event.data.n } }) }
    } catch (error) {
      return { caught: (error as Error).message }
    }
  }),
  createWorkflow({ name: 'conform-effects' }, async ({ event, step, ctx }: Args<{ url: string }>) => {
    await step.emit('tell', { event: 'conform.told', data: { n: 1 } })
    await ctx.webhook.send('call', { url: event.data.url, data: { n: 2 } })
    return { sent: true }
  }),
  createWorkflow({ name: 'conform-race' }, async ({ step }) => {
    const signal = step.waitForEvent('signal', { event: 'conform.signal', timeout: '1m' }).then(() => 'signal')
    return { winner: await Promise.race([signal, step.sleep('limit', '1m').then(() => 'limit')]) }
  }),
  createWorkflow(
    {
      name: 'conform-failure',
      onFailure: async ({ error, step }) => ({ reported: await step.run('report', () => error.message) }),
    },
    async () => null,
  ),
  createWorkflow({ name: 'conform-logs' }, async ({ ctx }) => {
    ctx.logger.info('hello', { n: 1 })
    return { logged: true }
  }),
  createWorkflow({ name: 'conform-attempt' }, async ({ step }) => step.run('count', ({ attempt }) => attempt)),
  createWorkflow({ name: 'conform-echo' }, async ({ event, step }: Args<unknown>) =>
    step.run('echo', () => event.data),
  ),
]
