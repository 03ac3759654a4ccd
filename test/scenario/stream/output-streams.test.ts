// Output streams: appends of a runner over Connect, and the messages that readers get, on another engine too (docs/streams.md).

import { expect, test } from 'vitest'
import { type Api, openEngines, PLACES, stepId, unique } from '../../kit/index.ts'
import { type ConnectClient, dialAs } from '../../kit/runner/connect-client.ts'

const ID = stepId('ask')

/** A runner with one run under way. The test answers its invoke. */
async function streaming(url: string, api: Api) {
  const name = unique('streams')
  const client = await dialAs(url, { app: name, runner: `${name}-1`, features: ['streams'], workflows: [name] })
  const { runId } = await api.send({ name })
  const invoke = await client.next('invoke')
  let seq = 0
  const append = async (chunks: unknown[], more: object = {}) => {
    client.send('invoke.stream', { stepId: ID, step: 'ask', name: 'answer', seq: ++seq, chunks, ...more }, invoke.id)
    return (await client.next('stream.ack')).payload
  }
  return { name, client, runId, invoke, append }
}

const read = async (api: Api, runId: string, query = '') => api.get(`/runs/${runId}/streams/answer${query}`)
const failedStep = (client: ConnectClient, id: string, error = 'again') =>
  client.result(
    id,
    206,
    JSON.stringify({
      opcodes: [{ op: 'StepRun', id: ID, name: 'ask', error: { message: error }, retryable: true, retryAfterMs: 1 }],
      logs: [],
    }),
  )
const succeeds = (client: ConnectClient, id: string, data: unknown) =>
  client.result(id, 206, JSON.stringify({ opcodes: [{ op: 'StepRun', id: ID, name: 'ask', data }], logs: [] }))

for (const [place, freshStore, count] of PLACES)
  test(`chunks are durable, withdrawn with their attempt, and end with the run: ${place}`, async () => {
    const { engines, api, other } = await openEngines(freshStore, count)
    const { client, runId, invoke, append } = await streaming(engines[0]?.url as string, api)
    expect((await read(other, runId)).json).toEqual([])
    expect(await append(['Hel', 'lo'])).toEqual({ stepId: ID, name: 'answer', seq: 1 })
    expect(await append([{ tool: 'search' }, 1.5])).toMatchObject({ seq: 2 })
    const first = await read(other, runId)
    expect(first.json).toEqual([
      { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
      { n: 1, chunk: 'lo' },
      { n: 2, chunk: { tool: 'search' } },
      { n: 3, chunk: 1.5 },
    ])
    expect(first.headers.get('content-type')).toBe('application/json')
    expect(first.headers.get('stream-next-offset')).toBe('0000000000000004')
    expect(first.headers.get('stream-up-to-date')).toBe('true')
    expect((await read(other, runId, '?text=1')).text).toBe('Hello')
    failedStep(client, invoke.id)
    const again = await client.next('invoke')
    const rest = await read(other, runId, '?offset=0000000000000003')
    expect(rest.json).toEqual([
      { n: 3, chunk: 1.5, step: 'ask', attempt: 1 },
      { n: 4, rollback: 0, step: 'ask', attempt: 1, reason: 'failed' },
    ])
    expect((await read(other, runId, '?text=1')).text).toBe('')
    const chunk = { stepId: ID, step: 'ask', name: 'answer', seq: 1, chunks: ['Better'] }
    client.send('invoke.stream', chunk, again.id)
    await client.next('stream.ack')
    succeeds(client, again.id, 'Better')
    const last = await client.next('invoke')
    client.result(last.id, 200, JSON.stringify({ data: 'Better', logs: [] }))
    await api.succeeded(runId)
    const end = await read(other, runId, '?offset=0000000000000005')
    expect(end.json).toEqual([
      { n: 5, chunk: 'Better', step: 'ask', attempt: 2 },
      { n: 6, end: 'succeeded' },
    ])
    expect(end.headers.get('stream-closed')).toBe('true')
    expect((await read(other, runId, '?text=1')).text).toBe('Better')
    expect((await api.get(`/runs/${runId}/streams`)).json).toMatchObject([
      { name: 'answer', chunks: 1, bytes: 8, ended: true },
    ])
  })
