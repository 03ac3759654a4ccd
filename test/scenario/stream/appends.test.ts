// Appends to output streams over HTTP from a runner without the SDK: receipts, repeats, refusals, and the end of the pass
// (docs/wire-protocol.md#output-streams).

import { describe, expect, test } from 'vitest'
import { gate, type Handler, openRunner, returned, scenario, stepId, unique, until } from '../../kit/index.ts'
import { postReport } from '../../kit/runner/pass-reports.ts'
import type { Invoke } from '../../kit/runner/runner-record.ts'

const ID = stepId('ask')
const { api, engine } = await scenario()

/** A run whose first pass is under way until `finish` is called. */
async function underWay() {
  const name = unique('appends')
  const [arrived, finished] = [gate(), gate()]
  let invoke: Invoke | undefined
  const handler: Handler = async received => {
    invoke ??= received
    arrived.open()
    await finished.opened
    return returned('done')
  }
  const runner = await openRunner({ workflows: { [name]: handler } })
  await runner.register(api, { features: ['streams', 'http-checkpoints'] })
  const { runId } = await api.send({ name })
  await arrived.opened
  const { checkpointToken } = (invoke as Invoke).ctx
  const url = `${engine.url}/invokes/${checkpointToken}/streams/answer`
  const append = (fields: object, to = url) =>
    postReport(to, JSON.stringify({ stepId: ID, step: 'ask', name: 'answer', seq: 1, chunks: ['a'], ...fields }))
  const chunks = async () => {
    const { json } = await api.get(`/runs/${runId}/streams/answer`)
    return (json as { chunk?: unknown }[]).flatMap(message => ('chunk' in message ? [message.chunk] : []))
  }
  return { runId, append, chunks, url, finish: () => finished.open() }
}

test('the same seq gets the same receipt, and is stored once; a gap is refused, and the pass lives', async () => {
  const { runId, append, chunks, finish } = await underWay()
  const receipt = { status: 200, body: { stepId: ID, name: 'answer', seq: 1 } }
  expect(await append({})).toMatchObject(receipt)
  expect(await append({})).toMatchObject(receipt)
  expect(await append({ seq: 3 })).toMatchObject({
    ...{ status: 409, body: { error: { code: 'conflict', message: 'seq 3 follows 1: an append is missing' } } },
  })
  expect(await append({ seq: 2, chunks: ['b'] })).toMatchObject({ status: 200 })
  // Each step and each stream counts separately.
  expect(await append({ stepId: stepId('other'), step: 'other', chunks: ['c'] })).toMatchObject({ status: 200 })
  expect(await chunks()).toEqual(['a', 'b', 'c'])
  finish()
  await api.succeeded(runId)
  expect(await append({ seq: 3 })).toMatchObject({ status: 410, body: { error: { code: 'gone' } } })
})

describe('an append that cannot be taken', () => {
  const long = 'x'.repeat(64 * 1024)
  const nested = '['.repeat(250) + ']'.repeat(250)
  const REFUSED: [string, object, number, string][] = [
    ['another name than the path', { name: 'notes' }, 400, 'name must match the name in the path, "answer"'],
    ['no chunk', { chunks: [] }, 400, 'chunks'],
    ['too many chunks', { chunks: Array(4097).fill(1) }, 400, 'chunks'],
    ['no list', { chunks: 'a' }, 400, 'chunks'],
    ['no step', { stepId: undefined }, 400, 'stepId'],
    ['a seq of 0', { seq: 0 }, 400, 'seq'],
    ['a long chunk', { chunks: [long] }, 413, 'a chunk of 65538 bytes exceeds the limit of 65536 bytes'],
    ['nesting', { chunks: [JSON.parse(nested)] }, 400, 'chunks must be nested at most 200 levels deep'],
  ]

  test('is refused, names the fault, and the pass lives', async () => {
    const { append, chunks, finish, url } = await underWay()
    for (const [what, fields, status, message] of REFUSED) {
      const answer = await append(fields)
      expect(answer, what).toMatchObject({ status, body: { error: { message: expect.stringContaining(message) } } })
    }
    expect(await postReport(url, '{"stepId":')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_json' } },
    })
    expect(await postReport(url, '[]')).toMatchObject({ status: 400 })
    const forged = url.replace(/\.[^./]+\/streams/, '.forgedforgedforgedforgedforgedfo/streams')
    expect(await append({}, forged)).toMatchObject({ status: 404 })
    expect(await append({})).toMatchObject({ status: 200 })
    expect(await chunks()).toEqual(['a'])
    finish()
  })
})

test('the 65th stream of a run is refused, naming the bound', async () => {
  const { append, url, finish, runId } = await underWay()
  for (let n = 0; n < 64; n++) {
    const name = `s${n}`
    expect(await append({ name }, url.replace('answer', name))).toMatchObject({ status: 200 })
  }
  expect(await append({})).toMatchObject({
    status: 413,
    body: { error: { message: expect.stringContaining('64 streams') } },
  })
  expect((await api.get(`/runs/${runId}/streams`)).json).toHaveLength(64)
  finish()
})

test('a cancel ends the stream with what was written', async () => {
  const { runId, append, finish } = await underWay()
  await append({})
  await api.post(`/runs/${runId}/cancel`)
  await until(async () => (await api.get(`/runs/${runId}/streams/answer`)).headers.get('stream-closed') === 'true')
  const { json } = await api.get(`/runs/${runId}/streams/answer`)
  expect(json).toEqual([
    { n: 0, chunk: 'a', step: 'ask', attempt: 1 },
    { n: 1, end: 'cancelled' },
  ])
  finish()
})
