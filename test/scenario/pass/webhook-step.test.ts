// Webhook: a custom send is a durable, unsigned delivery (docs/webhooks.md#custom-sends).

import { describe, expect, test } from 'vitest'
import {
  acts,
  discovered,
  flow,
  opcode,
  openDestination,
  openEngine,
  returned,
  run,
  scenario,
  step,
  unique,
  until,
} from '../../kit/index.ts'

const env = { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '10s,10s' }
const { api, clock, engine, start } = await scenario({ env })

const send = (webhookUrl: string, data?: unknown) =>
  step('Webhook', 'notify', { webhookUrl, ...(data === undefined ? {} : { data }) })

/** Runs a workflow with one webhook step to its end. */
async function delivered(webhookUrl: string, data?: unknown) {
  const { runId, record } = await start(flow([send(webhookUrl, data), run('after')]))
  return { run: await api.succeeded(runId), step: await api.step(runId, 'notify'), record }
}

describe('one POST', () => {
  test('carries the data verbatim, an id and a time, and no signature', async () => {
    const destination = await openDestination()
    const { step: sent } = await delivered(destination.url, { order: 7, note: 'naïve ☃' })
    const [post] = await until(() => destination.requests.length === 1 && destination.requests, {
      what: 'the delivery',
    })
    expect(post).toMatchObject({ method: 'POST', path: '/hook', body: '{"order":7,"note":"naïve ☃"}' })
    expect(post?.headers['content-type']).toMatch(/^application\/json/)
    expect(post?.headers['webhook-id']).toBe(sent.deliveryId)
    expect(post?.headers['webhook-id']).toMatch(/^dlv_/)
    expect(Number(post?.headers['webhook-timestamp'])).toBe(Math.floor(clock.now() / 1000))
    expect(post?.headers).not.toHaveProperty('webhook-signature')
  })

  test('the step is settled when the delivery is enqueued: the run does not wait for it', async () => {
    const destination = await openDestination(acts.status(500))
    const { run: finished, step: sent } = await delivered(destination.url, 1)
    expect(finished.result).toMatchObject({ after: 'after' })
    expect(sent).toMatchObject({ op: 'Webhook', status: 'succeeded', deliveryId: expect.any(String) })
  })

  test('data reaches the destination as it was given', async () => {
    const [destination, name] = [await openDestination(), unique('literal')]
    const text = '{"n":12345678901234567890,"f":1.10}'
    await engine.runner({
      workflows: {
        [name]: ({ pass }) => {
          if (pass > 1) return returned()
          const head = `"op":"Webhook","id":"x","name":"x","webhookUrl":"${destination.url}"`
          return { status: 206, text: `{"opcodes":[{${head},"data":${text}}],"logs":[]}` }
        },
      },
    })
    await api.send({ name })
    const [post] = await until(() => destination.requests.length === 1 && destination.requests, {
      what: 'the delivery',
    })
    expect(post?.body).toBe(text)
  })
})

describe('retries (5xx, 408, 425, 429, timeout, connection error by ENGINE_WEBHOOK_SCHEDULE)', () => {
  /** Lets one delay of the schedule (10 s, jitter 20 %) pass, and waits for the next POST. */
  async function nextPost(received: unknown[]): Promise<void> {
    const before = received.length
    await until(
      () => {
        if (received.length === before) clock.jump(1000)
        return received.length > before
      },
      { what: 'another attempt' },
    )
  }

  test('a failing destination gets every attempt of the schedule, under one id, and no more', async () => {
    const destination = await openDestination(acts.status(503))
    await delivered(destination.url, 'x')
    await until(() => destination.requests.length === 1)
    await nextPost(destination.requests)
    await nextPost(destination.requests)
    expect(new Set(destination.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(destination.requests.map(({ body }) => body))).toEqual(new Set(['"x"']))
    // A later delivery of the same lane has been sent, so everything due before has been sent too.
    clock.jump(3_600_000)
    const other = await openDestination()
    await delivered(other.url, 'x')
    await until(() => other.requests.length === 1)
    expect(destination.requests).toHaveLength(3)
  })

  test('410 is final: no second attempt', async () => {
    const destination = await openDestination(acts.status(410))
    await delivered(destination.url, 'x')
    await until(() => destination.requests.length === 1)
    clock.jump(60_000)
    const other = await openDestination()
    await delivered(other.url, 'x')
    await until(() => other.requests.length === 1)
    expect(destination.requests).toHaveLength(1)
  })
})

describe('once per run and step', () => {
  test('an opcode that is repeated enqueues nothing more', async () => {
    const [destination, name] = [await openDestination(), unique('repeater')]
    const notify = opcode('Webhook', 'notify', { webhookUrl: destination.url, data: 1 })
    await engine.runner({
      workflows: {
        [name]: ({ pass }) =>
          pass === 4 ? returned() : discovered([notify, opcode('StepRun', `s${pass}`, { data: 1 })]),
      },
    })
    await api.succeeded((await api.send({ name })).runId)
    const other = await openDestination()
    await delivered(other.url, 'x')
    await until(() => other.requests.length === 1)
    expect(destination.requests).toHaveLength(1)
  })

  test('an invalid URL gives the step an error', async () => {
    const { run: finished, step: sent } = await delivered('not a url', 1)
    expect(finished.result).toMatchObject({ notify: { error: { message: expect.any(String) } } })
    expect(sent.status).toBe('failed')
  })
})

test('a loopback destination is refused without ENGINE_WEBHOOK_ALLOW_PRIVATE', async () => {
  const strict = await openEngine()
  const [destination, name] = [await openDestination(), unique('notifier')]
  await strict.runner({ workflows: { [name]: flow([send(destination.url, 'secret'), run('after')]) } })
  const { runId } = await strict.api.send({ name })
  await strict.api.succeeded(runId)
  // A stop finishes the deliveries in flight.
  await strict.stop()
  expect(destination.requests).toEqual([])
})
