// The active OpenTelemetry span in handlers and steps.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

/** A minimal version of what an OpenTelemetry SDK registers. */
function openContexts(): void {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, fn, self, ...args) => storage.run(context, () => fn.apply(self, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  if (!context.setGlobalContextManager(manager)) throw new Error('a context manager is registered already')
  onTestFinished(() => context.disable())
}

/** The active spans in a handler, after an await, and in its step. */
async function activeIn(traceparent: string | undefined) {
  const seen: (string | undefined)[] = []
  const look = () => seen.push(trace.getActiveSpan()?.spanContext().spanId)
  const workflow = createWorkflow({ name: 'traced' }, async ({ step }) => {
    look()
    await Promise.resolve()
    await step.run('one', async () => {
      await new Promise(resolve => setImmediate(resolve))
      look()
    })
  })
  const handler = createHandler({ app: 'shop', workflows: [workflow], signingKey: [] })
  const ctx = { runId: 'run_1', workflow: 'traced', attempt: 1, app: 'shop', runner: '' }
  const { status } = await handler.invoke({
    event: { name: 'traced' },
    steps: {},
    ctx: { ...ctx, ...(traceparent === undefined ? {} : { traceparent }) },
  })
  expect(status).toBe(206)
  return seen
}

test("the engine's span is active in the handler and its steps, and not outside of them", async () => {
  openContexts()
  expect(await activeIn(`00-${TRACE}-${SPAN}-01`)).toEqual([SPAN, SPAN])
  expect(trace.getActiveSpan()).toBeUndefined()
})

test("a span of the user is its child, and changes to the engine's span have no effect", async () => {
  openContexts()
  let parent: unknown
  const workflow = createWorkflow({ name: 'traced' }, async () => {
    trace.getActiveSpan()?.setAttribute('a', 1).addEvent('b').setStatus({ code: 2 }).end()
    parent = trace.getSpanContext(context.active())
  })
  const handler = createHandler({ app: 'shop', workflows: [workflow], signingKey: [] })
  const traceparent = `00-${TRACE}-${SPAN}-00`
  const ctx = { runId: 'run_1', workflow: 'traced', attempt: 1, app: 'shop', runner: '', traceparent }
  await handler.invoke({ event: { name: 'traced' }, steps: {}, ctx })
  expect(parent).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 0, isRemote: true })
})

test('without OpenTelemetry, or without a trace context, the handler runs unchanged', async () => {
  expect(await activeIn(`00-${TRACE}-${SPAN}-01`)).toEqual([undefined, undefined])
  openContexts()
  expect(await activeIn(undefined)).toEqual([undefined, undefined])
  expect(await activeIn('00-nonsense-01')).toEqual([undefined, undefined])
})
