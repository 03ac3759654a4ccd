// When the content of a stream is stored for good, against a scripted server.

import { expect, test } from 'vitest'
import { json, openServer, refused } from '../server.testkit.ts'
import { readRunError, untilStored } from './stored.ts'

const read = { runId: 'run_1', stream: 'answer', token: 'pdt_1' }

test('a run that is parked has stored its steps, once no message follows', async () => {
  const parked = json({ status: 'waiting', waitingFor: { kind: 'signal', stepName: 'next' } })
  const { url, seen } = await openServer(
    refused(503, 'unavailable'),
    parked,
    json([{ n: 7, rollback: 0 }]),
    parked,
    json([]),
  )
  await untilStored({ ...read, url, next: 7 })
  const messages = '/runs/run_1/streams/answer?offset=0000000000000007'
  expect(seen.map(({ path }) => path)).toEqual(['/runs/run_1', '/runs/run_1', messages, '/runs/run_1', messages])
  expect(seen.at(-1)?.headers.authorization).toBe('Bearer pdt_1')
})

test('a run that is not parked, or that waits for its next pass, may still lose a step', async () => {
  const states = [
    { status: 'running' },
    { status: 'queued', waitingFor: { kind: 'runner' } },
    { status: 'waiting', waitingFor: { kind: 'retry' } },
    { status: 'paused', waitingFor: { kind: 'failure' } },
    { status: 'paused' },
  ]
  const readTwice = async (state: object) => {
    const stopping = new AbortController()
    const { url, seen } = await openServer(json(state), () => stopping.abort(new Error('enough')))
    await expect(untilStored({ ...read, url, next: 7, signal: stopping.signal })).rejects.toThrow('enough')
    return seen.map(({ path }) => path)
  }
  expect(await Promise.all(states.map(readTwice))).toEqual(states.map(() => ['/runs/run_1', '/runs/run_1']))
})

test('the error of a run is read if an engine answers', async () => {
  const { url } = await openServer(json({ status: 'failed', error: { message: 'no card' } }), refused(500, 'internal'))
  expect(await readRunError({ ...read, url })).toBe('no card')
  expect(await readRunError({ ...read, url })).toBeUndefined()
})
