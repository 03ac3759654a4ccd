// Accepted and refused posts of `POST /events` (docs/events.md#send-an-event).

import { createClient } from '@perdure/client'
import type { SendEventReply } from '@perdure/protocol'
import { createClient as createSender } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { returned, scenario, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const echo = unique('echo')
const runner = await engine.runner({ workflows: { [echo]: ({ event }) => returned(event.data) } })

const long = (length: number) => 'x'.repeat(length)

describe('refused with 400', () => {
  test.each([
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: ' \t' }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name that is no string', { name: 1 }, 'name'],
    ['a name of 257 characters', { name: long(257) }, 'name'],
    ['a control character in the name', { name: 'a\u0000b' }, 'name'],
    ['a blank app', { app: ' ' }, 'app'],
    ['an empty app', { app: '' }, 'app'],
    ['an app of 129 characters', { app: long(129) }, 'app'],
    ['a null app', { app: null }, 'app'],
    ['a blank runner', { runner: ' ' }, 'runner'],
    ['a runner of 129 characters', { runner: long(129) }, 'runner'],
    ['a blank targetApp', { targetApp: ' ' }, 'targetApp'],
    ['a targetApp of 129 characters', { targetApp: long(129) }, 'targetApp'],
    ['a blank dedupeId', { dedupeId: ' ' }, 'dedupeId'],
    ['a dedupeId of 257 characters', { dedupeId: long(257) }, 'dedupeId'],
  ])('%s', async (_what, change, field) => {
    const name = unique('refused')
    const answer = await api.post('/events', { name, ...change })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error: { code: 'invalid_request', details: { field } } })
    expect((await api.get(`/events?name=${name}`)).json).toEqual([])
  })

  test.each([
    ['data nested 250 levels deep', `{"name":"x","data":${'['.repeat(250)}${']'.repeat(250)}}`, 'invalid_json'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json'],
    ['an empty body', '', 'invalid_request'],
    ['a list', '[]', 'invalid_request'],
    ['null', 'null', 'invalid_request'],
  ])('%s', async (_what, body, code) => {
    expect(await api.postText('/events', body)).toMatchObject({ status: 400, code })
  })

  test('a body over 1 MiB is 413', async () => {
    const answer = await api.post('/events', { name: 'big', data: long(1024 * 1024) })
    expect(answer).toMatchObject({ status: 413, code: 'payload_too_large' })
  })
})

describe('accepted with 202', () => {
  test('strings at their bounds, counted in characters', async () => {
    const event = {
      name: '☃'.repeat(256),
      app: long(128),
      runner: long(128),
      targetApp: long(128),
      dedupeId: long(256),
    }
    expect((await api.post('/events', event)).status).toBe(202)
  })

  test('a charset with the content type', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const answer = await api.request('POST', '/events', { headers, body: '{"name":"x"}' })
    expect(answer.status).toBe(202)
  })

  test('unknown members, which the answer names in warnings; that of a duplicate has none', async () => {
    const warnings = ['"dedupeID" is not known here; did you mean "dedupeId"?']
    const name = unique('misspelt')
    expect((await api.post('/events', { name, dedupeID: 'x' })).json).toMatchObject({ triggered: [], warnings })
    expect((await api.post('/events?dryRun=1', { name, dedupeID: 'x' })).json).toMatchObject({
      workflows: [],
      warnings,
    })
    // The event would be sent, although elsewhere this member means that nothing happens.
    expect(await api.post('/events', { name, dryRun: true })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      text: expect.stringContaining('dryRun is a query parameter: POST /events?dryRun=1'),
    })
    await api.post('/events', { name, dedupeId: name })
    expect((await api.post('/events', { name, dedupeId: name, more: 1 })).json).toEqual({ deduped: true })
  })

  test('the answer to a duplicate is just deduped, and names the first event and its run in headers', async () => {
    const send = (fields: object = {}) =>
      api.post('/events', { name: echo, app: runner.app, dedupeId: unique('d'), ...fields })
    const dedupeId = unique('d')
    const first = (await send({ dedupeId })).json as SendEventReply
    const repeat = await send({ dedupeId })
    expect(repeat.text).toBe('{"deduped":true}')
    const idsOf = ({ headers }: typeof repeat) => [headers.get('x-event-id'), headers.get('x-run-id')]
    expect(idsOf(repeat)).toEqual([first.eventId, first.runId])
    expect(idsOf(await send())).toEqual([null, null])
    // The event that arrives later has started nothing yet.
    const later = { dedupeId: unique('d'), delay: '1h' }
    const scheduled = (await send(later)).json as SendEventReply
    expect(idsOf(await send(later))).toEqual([scheduled.eventId, null])
    const client = createClient({ url: engine.url })
    const body = { name: echo, app: runner.app as string, dedupeId }
    expect(await client.sendEvent({ body })).toEqual({ deduped: true, eventId: first.eventId, runId: first.runId })
    const sdk = createSender({ url: engine.url })
    expect(await sdk.send(body)).toEqual({ deduped: true, eventId: first.eventId, runId: first.runId })
  })

  test('an event that matches nothing: empty triggered, no runId, and recorded', async () => {
    const name = unique('nothing')
    const answer = await api.post('/events', { name, data: [1] })
    expect(answer.status).toBe(202)
    const { eventId } = answer.json as { eventId: string }
    expect(answer.json).toEqual({ eventId, woke: 0, triggered: [] })
    const { receivedAt, ...record } = await api.event(eventId)
    expect(record).toEqual({ id: eventId, name, source: 'api', data: [1], woke: 0, triggered: [] })
    expect(receivedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})

describe('data of any valid JSON (object, array or scalar)', () => {
  /** Resolves with the run that the event with this data text started, once it has succeeded. */
  async function delivered(dataText: string) {
    const answer = await api.postText('/events', `{"name":"${echo}","app":"${runner.app}","data":${dataText}}`)
    expect(answer.status).toBe(202)
    const { runId, eventId } = answer.json as { runId: string; eventId: string }
    await api.succeeded(runId)
    const [invoke] = runner.record.of(runId)
    return { runId, eventId, invoke }
  }

  test.each(['{"a":{"b":[1,2]}}', '[]', '"text"', '17', '-0.5', 'true', 'false', 'null', '""', '0'])(
    "%s is delivered as ctx.event.data and is the run's input",
    async text => {
      const { runId, eventId, invoke } = await delivered(text)
      const data = JSON.parse(text)
      expect(invoke?.event).toEqual({ id: eventId, name: echo, data })
      const run = await api.run(runId)
      expect(run.input).toEqual(data)
      expect(run.result).toEqual(data)
      expect((await api.event(eventId)).data).toEqual(data)
    },
  )

  test.each([
    ['digits beyond a double', '12345678901234567890'],
    ['a decimal with its zeros', '{"price":1.10,"exp":1E+2}'],
    ['a number no double holds', '1e400'],
    ['a member named twice', '{"a":1,"a":2}'],
    ['an escaped NUL and a lone surrogate', '"\\u0000 \\ud800"'],
    ['__proto__', '{"__proto__":{"polluted":true}}'],
    ['150 levels', `${'['.repeat(150)}${']'.repeat(150)}`],
  ])('%s reaches runner, run and event log to the letter', async (_what, text) => {
    const { runId, eventId, invoke } = await delivered(text)
    expect(invoke?.raw).toContain(`"data":${text}}`)
    expect((await api.get(`/runs/${runId}`)).text).toContain(`"input":${text}`)
    expect((await api.get(`/events/${eventId}`)).text).toContain(`"data":${text}`)
  })

  test('omitted data is absent everywhere, never null', async () => {
    const { runId, eventId } = await api.send({ name: echo, app: runner.app })
    await api.succeeded(runId)
    expect(runner.record.of(runId)[0]?.event).toEqual({ id: eventId, name: echo })
    for (const path of [`/runs/${runId}`, `/events/${eventId}`]) {
      const { json } = await api.get(path)
      expect(json).not.toHaveProperty('input')
      expect(json).not.toHaveProperty('data')
    }
  })

  test('a payload of almost 1 MiB goes through whole', async () => {
    const data = { blob: long(1_000_000) }
    const { runId } = await api.send({ name: echo, app: runner.app, data })
    expect((await api.succeeded(runId)).input).toEqual(data)
  })
})
