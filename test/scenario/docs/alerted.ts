// Checks the workflows of docs/alerts.md and docs/events.md#events-of-the-engine, which start when a run has failed.

import { createWorkflow, type Workflow } from '@perdure/sdk'
import { testEngine } from '@perdure/sdk/testing'
import { expect, vi } from 'vitest'
import type { Scope } from '../../kit/docs/blocks.ts'

const pay = createWorkflow({ name: 'pay', retry: { maxAttempts: 1 } }, async ({ step }) =>
  step.run('charge', () => Promise.reject(new Error('declined'))),
)
/** Fails because of its child. */
const cart = createWorkflow({ name: 'cart' }, async ({ step }) => step.runWorkflow('pay', { workflow: pay }))

/** One message for a run that fails, and for another that fails because of its child. */
export async function alertsChat(block: () => Promise<Scope>): Promise<void> {
  vi.stubEnv('CHAT_WEBHOOK', 'https://chat.example/hook')
  const { alertChat } = await block()
  await using engine = await testEngine([pay, cart, alertChat as Workflow])
  const failed = [await engine.start(pay), await engine.start(cart)]
  await engine.advance('1m')
  const lines = failed.map(({ workflow, id }) => `${workflow} failed: declined\nhttp://127.0.0.1:4777/console/go/${id}`)
  expect(await engine.deliveries()).toMatchObject([{ body: { text: lines.join('\n') } }])
}

/** One page for a run that fails. */
export async function pagesAboutFailure(block: (scope: Scope) => Promise<Scope>): Promise<void> {
  const pages: string[] = []
  const { alert } = await block({ createWorkflow, page: (text: string) => pages.push(text) })
  await using engine = await testEngine({ workflows: [pay, alert as Workflow], app: 'shop' })
  const paid = await engine.start(pay)
  await paid.failure()
  await engine.settled()
  expect(pages).toEqual([`pay failed: declined (${paid.id})`])
}
