// `GET /runs/{id}/bundle`: a run with everything that belongs to it as one document (docs/concepts.md#bundles).

import type { Bundle } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import { expect, test } from 'vitest'
import { expectToFit } from '../../kit/http/fits.ts'
import { discovered, emit, flow, opcode, returned, run, StepFailure, scenario, unique } from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })
const small = await scenario({ bounds: { http: { bundleBytes: 10_000 } } })

async function bundle(runId: string, query = ''): Promise<{ text: string; value: Bundle }> {
  const { status, text } = await api.get(`/runs/${runId}/bundle${query}`)
  expect(status).toBe(200)
  return { text, value: JSON.parse(text) as Bundle }
}

/** Ends a run whose step fails once. */
async function order(data: string): Promise<{ runId: string; name: string; eventId: string }> {
  let isFirst = true
  const charge = () => {
    if (!isFirst) return { token: 'tok_1', amount: 3 }
    isFirst = false
    throw new StepFailure('declined')
  }
  const { name } = await workflow(flow([run('charge', charge), emit('tell', unique('told'))]), {
    registration: { retry: { maxAttempts: 3, initialMs: 1, jitter: 0 } },
  })
  const { json } = await api.postText('/events', `{"name":"${name}","data":${data}}`)
  const { runId, eventId } = json as { runId: string; eventId: string }
  await api.succeeded(runId)
  return { runId, name, eventId }
}

test('run, event, definition, versions, steps with attempts, timeline, logs and passes; digits are kept', async () => {
  const { runId, name, eventId } = await order('{"id":12345678901234567890,"apiKey":"sk_live"}')
  const { text, value } = await bundle(runId)
  expect(value).toMatchObject({
    'perdure-bundle': 1,
    payloads: true,
    run: { id: runId, workflow: name, status: 'succeeded' },
    event: { id: eventId, name },
    workflow: { name },
    versions: { engine: expect.any(String), runners: [{ runnerId: expect.any(String) }] },
    steps: [
      {
        name: 'charge',
        attempts: [
          { attempt: 1, status: 'failed', error: { message: 'declined' } },
          { attempt: 2, status: 'succeeded' },
        ],
      },
      { name: 'tell' },
    ],
  })
  expect(value).not.toHaveProperty('truncated')
  expect(value.timeline?.at(-1)).toMatchObject({ kind: 'run_status', status: 'succeeded' })
  expect(value.passes?.length).toBeGreaterThan(1)
  expect(text).toContain('12345678901234567890')
  expect(text).not.toContain('sk_live')
  expect(text).not.toContain('tok_1')
  expect(value.run.input).toMatchObject({ apiKey: '[REDACTED]' })
})

test('payloads=0: values are null, messages stay', async () => {
  const { runId } = await order('{"email":"ada@example.com"}')
  const { text, value } = await bundle(runId, '?payloads=0')
  expect(value).toMatchObject({ payloads: false, run: { input: null }, event: { data: null } })
  expect(value.steps?.map(({ data }) => data)).toEqual([null, null])
  expect(text).not.toContain('ada@')
  expect(text).toContain('declined')
  expect(await api.get(`/runs/${runId}/bundle?payloads=2`)).toMatchObject({ status: 400, code: 'invalid_request' })
})

test('payloads=0: the values of progress are null, their times stay', async () => {
  const { name, runner } = await workflow(({ pass }) =>
    pass === 1
      ? {
          status: 206,
          body: { opcodes: [opcode('StepRun', 'one', { data: 1 })], progress: { email: 'ada@example.com' } },
        }
      : returned(),
  )
  await runner.register(api, { features: ['attributes'] })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const frames = ({ timeline = [] }: Bundle) => timeline.filter(({ kind }) => kind === 'progress')
  const { value: whole } = await bundle(runId)
  const { text, value } = await bundle(runId, '?payloads=0')
  expect(whole.run.progress).toMatchObject({ value: { email: 'ada@example.com' } })
  expect(value.run.progress).toEqual({ ...whole.run.progress, value: null })
  expect(frames(whole)).toHaveLength(1)
  expect(frames(value)).toEqual(frames(whole).map(frame => ({ ...frame, value: null })))
  expect(text).not.toContain('ada@')
})

test('log lines are beside the timeline, their fields redacted or left out', async () => {
  const line = {
    level: 'info' as const,
    message: 'hello',
    scope: '@root',
    index: 0,
    fields: { password: 'p4ss', n: 7 },
  }
  const { name } = await workflow(({ pass }) =>
    pass === 1 ? discovered([opcode('StepRun', 'one', { data: 1 })], [line]) : returned(undefined, [line]),
  )
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const { text, value } = await bundle(runId)
  expect(value.logs).toMatchObject([{ message: 'hello', fields: { password: '[REDACTED]', n: 7 } }])
  expect(value.timeline?.some(({ kind }) => kind === 'log')).toBe(false)
  expect(text).not.toContain('p4ss')
  const veiled = (await bundle(runId, '?payloads=0')).value
  expect(veiled.logs).toMatchObject([{ message: 'hello', fields: null }])
  expectToFit(veiled, operations.getRunBundle.reply.schema, 'a bundle without payloads')
})

test('a bundle that would be too long is whole JSON and names the section that is not', async () => {
  const steps = Array.from({ length: 40 }, (_, i) => run(`step-${i}`, () => 'x'.repeat(100)))
  const { name } = await small.workflow(flow([steps]))
  const { runId } = await small.api.send({ name })
  await small.api.succeeded(runId)
  const { text } = await small.api.get(`/runs/${runId}/bundle`)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000)
  const value = JSON.parse(text) as Bundle
  expect(value.truncated).toEqual({ section: 'steps', reason: 'size' })
  expect(value.steps?.length).toBeGreaterThan(1)
  expect(value).not.toHaveProperty('timeline')
})

test('a compressed bundle is the same, and a run that is not there has none', async () => {
  const { runId } = await order('{"n":1}')
  const plain = await bundle(runId)
  for (const encoding of ['gzip', 'br']) {
    const answer = await api.request('GET', `/runs/${runId}/bundle`, { headers: { 'accept-encoding': encoding } })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    expect({ ...JSON.parse(answer.text), exportedAt: '' }).toEqual({ ...plain.value, exportedAt: '' })
  }
  expect(await api.get('/runs/run_none/bundle')).toMatchObject({ status: 404, code: 'not_found' })
})
