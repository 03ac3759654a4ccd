// The detail of a thrown error, as handlers, parents, on-failure handlers and readers of the API get it
// (docs/errors.md#errors-of-your-code).

import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { testEngine } from './index.ts'

class CardError extends Error {
  override readonly name = 'CardError'
  readonly code = 'card_declined'
  readonly declineCode = 'insufficient_funds'
  readonly status = 402
  readonly isFinal = false
  readonly charge = null
  readonly apiKey = 'sk_live_1'
  readonly body = { not: 'a scalar' }
  constructor() {
    const socket = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111, port: 443 })
    super('Your card was declined', { cause: new TypeError('fetch failed', { cause: socket }) })
  }
}

const fields = { declineCode: 'insufficient_funds', status: 402, isFinal: false, charge: null, apiKey: '[REDACTED]' }
const cause = {
  name: 'TypeError',
  message: 'fetch failed',
  cause: {
    name: 'Error',
    message: 'connect ECONNREFUSED',
    code: 'ECONNREFUSED',
    fields: { errno: -111, port: 443 },
  },
}

const charge = () => {
  throw new CardError()
}
const once = { maxAttempts: 1 }

/** Lists the members that a handler can read of an error that it caught. */
function readOf(thrown: unknown) {
  const error = thrown as Error & Record<string, unknown>
  const { name, message, code, stepName, childStepName, declineCode, status, isFinal, charge, apiKey, body } = error
  const socket = (error.cause as Error | undefined)?.cause as Record<string, unknown> | undefined
  const causes = [(error.cause as Error | undefined)?.name, socket?.message, socket?.code, socket?.port]
  return { name, message, code, stepName, childStepName, declineCode, status, isFinal, charge, apiKey, body, causes }
}

const read = {
  name: 'CardError',
  message: 'Your card was declined',
  code: 'card_declined',
  ...fields,
  causes: ['TypeError', 'connect ECONNREFUSED', 'ECONNREFUSED', 443],
}

describe('the detail of an error', () => {
  test.each([true, false])(
    'reaches the handler that catches a step, in every pass (checkpoints: %s)',
    async checkpoints => {
      const seen: object[] = []
      const pay = createWorkflow({ name: 'pay', retry: once }, async ({ step }) => {
        const caught = await step.run('charge', charge).catch(readOf)
        seen.push(caught)
        await step.sleep('a while', '1h')
        return caught
      })
      await using engine = await testEngine({ workflows: [pay], checkpoints })
      const run = await engine.start(pay)
      expect(await run.result({ within: '2h' })).toEqual({ ...read, stepName: 'charge' })
      expect(seen.length).toBeGreaterThan(1)
      expect(new Set(seen.map(one => JSON.stringify(one))).size).toBe(1)
      const error = (await run.step('charge'))?.error
      expect(error).toEqual({
        name: 'CardError',
        message: 'Your card was declined',
        stack: error?.stack,
        code: 'card_declined',
        fields,
        cause,
      })
      // The causes are in the stack once, however often the error is stored.
      expect(error?.stack?.match(/Caused by: /g)).toHaveLength(2)
    },
  )

  test('reaches a parent, its on-failure handler, and readers of runs', async () => {
    const failures: object[] = []
    const pay = createWorkflow({ name: 'pay', retry: once }, ({ step }) => step.run('charge', charge))
    const order = createWorkflow(
      { name: 'order', onFailure: ({ error, step }) => step.run('note', () => void failures.push(readOf(error))) },
      async ({ step }) => {
        const caught = await step.runWorkflow('first try', { workflow: pay }).catch(readOf)
        await step.run('keep', () => caught)
        await step.runWorkflow('second try', { workflow: pay })
      },
    )
    await using engine = await testEngine([order, pay])
    await engine.api.createWebhookEndpoint({ body: { url: 'https://shop.example/hook', eventKinds: ['step.failed'] } })
    const run = await engine.start(order)
    const failure = await run.failure()
    expect((await run.step('keep'))?.data).toEqual({ ...read, stepName: 'first try', childStepName: 'charge' })
    expect(failures).toEqual([{ ...read, stepName: 'second try' }])
    expect(readOf(failure)).toEqual({ ...read, stepName: 'second try', status: 'failed' })
    expect(failure.stack?.match(/Caused by: /g)).toHaveLength(2)
    const told = (await engine.deliveries()).map(({ body }) => (body as { data: { step?: { error: unknown } } }).data)
    expect(told.find(({ step }) => step)?.step?.error).toMatchObject({ code: 'card_declined', fields, cause })
    const { items } = await engine.api.listRuns({ workflow: 'pay', limit: 1 })
    expect(items[0]?.error).toMatchObject({
      code: 'step_failed',
      stepName: 'charge',
      fields: { ...fields, code: 'card_declined' },
      cause,
    })
  })

  test('of a handler that throws is that of its run', async () => {
    const failures: object[] = []
    const pay = createWorkflow(
      { name: 'pay', onFailure: ({ error }) => void failures.push(readOf(error)), handlerRetries: 1 },
      charge,
    )
    await using engine = await testEngine([pay])
    const run = await engine.start(pay)
    expect(readOf(await run.failure())).toEqual({ ...read, status: 'failed' })
    expect((await run.read()).error).toMatchObject({ code: 'handler_failed', fields: { code: 'card_declined' } })
    expect(failures).toEqual([read])
  })
})
