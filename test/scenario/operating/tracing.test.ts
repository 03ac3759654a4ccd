// Traces: which trace a run belongs to, with and without a tracing SDK in the engine's process, and what the spans
// contain (docs/metrics.md#traces).

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSpans, type RecordedSpan } from '../../kit/engine/spans.ts'
import {
  child,
  flow,
  JumpClock,
  type OpenEngine,
  onCleanup,
  openDestination,
  openEngine,
  type PlainRunner,
  run,
  StepFailure,
  sleep,
  startEngine,
  step,
  tempStoreFile,
  unique,
  until,
} from '../../kit/index.ts'
import { ConnectRunner } from '../../kit/runner/connect-runner.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const SAMPLED = `00-${TRACE}-${CALLER}-01`
const env = { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }

async function send({ api }: OpenEngine, name: string, traceparent?: string): Promise<string> {
  const { status, json } = await api.request('POST', '/events', {
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json', ...(traceparent ? { traceparent } : {}) },
  })
  expect(status).toBe(202)
  return (json as { runId: string }).runId
}

const partsOf = (traceparent: string | undefined) => {
  const [version, traceId, spanId, flags] = (traceparent ?? '').split('-')
  return { version, traceId, spanId, flags }
}

describe('without an SDK', async () => {
  const engine = await openEngine({ env })

  /** The only trace of the run's passes. */
  function traceOf({ record }: PlainRunner, runId: string): string | undefined {
    const traces = new Set(record.of(runId).map(({ ctx }) => partsOf(ctx.traceparent).traceId))
    expect(traces.size).toBe(1)
    return [...traces][0]
  }

  test("a run goes on in its caller's trace, through parks, children and deliveries", async () => {
    const [name, childName] = [unique('traced'), unique('traced-child')]
    const destination = await openDestination()
    const notify = step('Webhook', 'notify', { webhookUrl: destination.url, data: 1 })
    const { record } = await engine.runner({
      workflows: {
        [name]: flow([run('one'), sleep('nap', 20), child('child', childName), notify]),
        [childName]: flow([run('inner')]),
      },
    })
    const runId = await send(engine, name, `00-${TRACE}-${CALLER}-00`)
    await engine.api.succeeded(runId)
    const [post] = await until(() => destination.requests.length === 1 && destination.requests)
    const traced = [...record.invokes.map(({ ctx }) => ctx.traceparent), post?.headers.traceparent as string]
    expect(traced.length).toBeGreaterThan(5)
    for (const traceparent of traced)
      expect(partsOf(traceparent)).toMatchObject({ version: '00', traceId: TRACE, flags: '00' })
    const spanIds = traced.map(traceparent => partsOf(traceparent).spanId)
    expect(new Set([...spanIds, CALLER]).size).toBe(traced.length + 1)
  })

  test('an invalid trace header is ignored: the trace follows from the run', async () => {
    const name = unique('traced')
    const runner = await engine.runner({ workflows: { [name]: flow([run('one')]) } })
    const runIds = [await send(engine, name, `00-${TRACE}-nonsense-01`), await send(engine, name)]
    for (const runId of runIds) await engine.api.succeeded(runId)
    const traces = runIds.map(runId => traceOf(runner, runId))
    expect(new Set([...traces, TRACE]).size).toBe(3)
  })

  test('a replay, a retry and a bulk replay go on in the trace of their request', async () => {
    const name = unique('traced')
    const runner = await engine.runner({ workflows: { [name]: flow([run('one')]) } })
    const runId = await send(engine, name)
    await engine.api.succeeded(runId)
    const own = traceOf(runner, runId)
    const fork = async (path: string, body: object, trace?: string): Promise<string> => {
      const { status, json } = await engine.api.request('POST', path, {
        body: JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          ...(trace ? { traceparent: `00-${trace}-${CALLER}-01` } : {}),
        },
      })
      expect(status).toBe(200)
      return (json as { id: string }).id
    }
    const [first, second, third] = ['1', '2', '3'].map(digit => digit.repeat(32)) as [string, string, string]
    const forks: [string, string | undefined][] = [
      [await fork(`/runs/${runId}/replay`, {}, first), first],
      [await fork(`/runs/${runId}/retry-from-step`, { step: 'one' }, second), second],
      [await fork(`/runs/${runId}/replay`, {}), undefined],
    ]
    for (const [id, trace] of forks) {
      await engine.api.succeeded(id)
      const traced = traceOf(runner, id)
      if (trace === undefined) expect([own, first, second]).not.toContain(traced)
      else expect(traced).toBe(trace)
    }
    await fork('/runs/bulk-replay', { workflow: name }, third)
    const inThird = () => runner.record.invokes.filter(({ ctx }) => partsOf(ctx.traceparent).traceId === third)
    await until(() => new Set(inThird().map(({ ctx }) => ctx.runId)).size === 1 + forks.length)
  })
})

test('a batch goes on in the trace of its first event, a debounced run in that of its last', async () => {
  const clock = new JumpClock()
  const engine = await openEngine({ env, clock })
  const [batch, burst] = [unique('batch'), unique('burst')]
  const handler = flow([run('one')])
  const runner = await engine.runner({
    workflows: {
      [batch]: { handler, registration: { batch: { maxSize: 2, timeout: '1h' } } },
      [burst]: { handler, registration: { debounce: { period: '10s' } } },
    },
  })
  for (const name of [batch, burst])
    for (const digit of ['1', '2']) await send(engine, name, `00-${digit.repeat(32)}-${CALLER}-01`)
  clock.jump(10_000)
  const passOf = (name: string) => runner.record.invokes.find(({ ctx }) => ctx.workflow === name)
  for (const [name, digit] of [
    [batch, '1'],
    [burst, '2'],
  ] as const) {
    const pass = await until(() => passOf(name))
    expect(partsOf(pass.ctx.traceparent).traceId).toBe(digit.repeat(32))
  }
})

test('the trace is stored: an engine that starts on the file goes on in it', async () => {
  const storeFile = tempStoreFile()
  const first = await openEngine({ env, storeFile })
  const name = unique('traced')
  const { record, app } = await first.runner({
    runner: 'stays',
    workflows: { [name]: { handler: flow([run('one'), sleep('nap', 300), run('two')]) } },
  })
  const runId = await send(first, name, SAMPLED)
  await first.api.reaches(runId, 'waiting')
  await first.stop()
  const second = await openEngine({ env, storeFile })
  expect(app).toBeTruthy()
  const passes = record.of(runId).length
  await second.runner({
    app,
    runner: 'stays',
    record,
    workflows: { [name]: flow([run('one'), sleep('nap', 300), run('two')]) },
  })
  await second.api.succeeded(runId)
  expect(record.of(runId).length).toBeGreaterThan(passes)
  for (const { ctx } of record.of(runId)) expect(partsOf(ctx.traceparent).traceId).toBe(TRACE)
})

test('with an SDK: the event, the active times of the run, its passes, steps and deliveries are spans of one trace', async () => {
  const { spans, close } = openSpans()
  const engine = await openEngine({ env })
  // The SDK has its own provider. Spans of other work in this process do not count.
  close()
  const name = unique('traced')
  const destination = await openDestination()
  const notify = step('Webhook', 'notify', { webhookUrl: `${destination.url}?token=hidden`, data: 'hidden' })
  const { record, app } = await engine.runner({
    runner: 'traced-1',
    workflows: { [name]: flow([run('one'), sleep('nap', 20), notify]) },
  })
  const runId = await send(engine, name, SAMPLED)
  await engine.api.succeeded(runId)
  const [post] = await until(() => destination.requests.length === 1 && destination.requests)
  const named = (name: string) => spans.filter(span => span.name === name)
  await until(() => named('perdure.delivery')[0]?.endMs !== undefined)
  await until(() => named('perdure.run').every(({ endMs }) => endMs !== undefined))

  for (const span of spans) {
    expect(span, span.name).toMatchObject({ traceId: TRACE, sampled: true, failed: false })
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs)
    expect(JSON.stringify(span)).not.toContain('hidden')
  }
  const [event] = named('perdure.event') as [RecordedSpan]
  expect(event).toMatchObject({ parentId: CALLER, attributes: { 'perdure.event.name': name } })
  // One span until the run sleeps, and one after it wakes.
  const stretches = named('perdure.run')
  expect(stretches.map(({ attributes }) => attributes['perdure.run.status'])).toEqual(['waiting', 'succeeded'])
  for (const { parentId, attributes } of stretches) {
    expect(parentId).toBe(event.spanId)
    expect(attributes).toMatchObject({
      'perdure.run.id': runId,
      'perdure.app': app,
      'perdure.workflow': name,
    })
  }
  const invokes = named('perdure.invoke')
  const traced = record.of(runId).map(({ ctx }) => partsOf(ctx.traceparent).spanId)
  expect(invokes.map(({ spanId }) => spanId)).toEqual(traced)
  const stretchIds = stretches.map(({ spanId }) => spanId)
  for (const invoke of invokes) {
    expect(stretchIds).toContain(invoke.parentId)
    expect(invoke.attributes).toMatchObject({ 'server.address': '127.0.0.1', 'perdure.runner': 'traced-1' })
  }
  const steps = named('perdure.step')
  expect(steps.map(({ attributes }) => attributes['perdure.step.name'])).toEqual(['one', 'nap', 'notify'])
  expect(steps[0]?.parentId).toBe(invokes[0]?.spanId)
  const [delivery] = named('perdure.delivery') as [RecordedSpan]
  expect(partsOf(post?.headers.traceparent as string).spanId).toBe(delivery.spanId)
  expect(delivery.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.response.status_code': 200,
  })
})

test('with an SDK: a pass of a Connect runner names the runner, which has no address', async () => {
  const { spans, close } = openSpans()
  const engine = await openEngine({ env })
  close()
  const name = unique('traced')
  const runner = new ConnectRunner({ workflows: { [name]: flow([run('one')]) } })
  onCleanup(() => runner.close())
  await runner.register(engine.api, { runner: 'socket-1' })
  await engine.api.succeeded(await send(engine, name))
  const invokes = spans.filter(span => span.name === 'perdure.invoke')
  expect(invokes.length).toBeGreaterThan(0)
  for (const { attributes } of invokes) {
    expect(attributes['perdure.runner']).toBe('socket-1')
    expect(Object.keys(attributes).filter(key => key.startsWith('server.'))).toEqual([])
  }
})

test('with an SDK: a failure is a failed span, and a run without a trace begins one', async () => {
  const { spans, close } = openSpans()
  const engine = await openEngine({ env })
  close()
  const name = unique('traced')
  const refuse = run('refuse', () => {
    throw new StepFailure('a secret of the user', { retriable: false })
  })
  await engine.runner({ workflows: { [name]: flow([run('one'), refuse]) } })
  const runId = await send(engine, name)
  await engine.api.failed(runId)
  await until(() => spans.find(span => span.name === 'perdure.run')?.endMs !== undefined)
  const failed = spans.filter(span => span.failed).map(span => [span.name, span.attributes['error.type']])
  expect(failed.sort()).toEqual([
    ['perdure.run', 'step_failed'],
    ['perdure.step', 'step_failed'],
  ])
  expect(spans[0]).toMatchObject({ name: 'perdure.event', parentId: undefined })
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(JSON.stringify(spans)).not.toContain('secret')
})

/** The preload of an operator, in a few lines. In a thread of the store it would keep the thread alive. */
const PRELOAD = `
const { appendFileSync } = require('node:fs')
const { trace } = require(${JSON.stringify(createRequire(import.meta.url).resolve('@opentelemetry/api'))})
const tell = line => appendFileSync(process.env.TOLD, line + '\\n')
tell('loaded')
if (!require('node:worker_threads').isMainThread) setInterval(() => {}, 1000)
trace.setGlobalTracerProvider({
  getTracer: () => ({
    startSpan: name => {
      tell(name)
      return trace.wrapSpanContext({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 })
    },
  }),
})`

test('an SDK that is preloaded makes the spans of a real engine, and is not loaded in its threads', async () => {
  const storeFile = tempStoreFile()
  const preload = join(dirname(storeFile), 'tracing.cjs')
  const traced = join(dirname(storeFile), 'traced.txt')
  writeFileSync(preload, PRELOAD)
  const env = { NODE_OPTIONS: `--require ${preload}`, TOLD: traced }
  const engine = await startEngine({ storeFile, env })
  await engine.api.send({ name: unique('traced') })
  expect((await engine.sigterm()).code).toBe(0)
  expect(readFileSync(traced, 'utf8')).toBe('loaded\nperdure.event\n')
})
