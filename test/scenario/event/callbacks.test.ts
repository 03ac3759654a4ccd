// Callbacks: steps that a post from outside completes (docs/steps.md#callbacks). The runner derives their URLs by
// docs/wire-protocol.md#callbacks.

import { describe, expect, test } from 'vitest'
import {
  flow,
  type Handler,
  type Invoke,
  openEngine,
  run,
  scenario,
  sleep,
  step,
  stepId,
  waitsFor,
} from '../../kit/index.ts'
import { callbackUrl, type InvokeRequest } from '../../kit/runner/wire.ts'

const { api, barrier, clock, workflow } = await scenario()

const FEATURES = { features: ['callbacks'] }
const callback = (name: string, timeoutMs?: number) => step('WaitForCallback', name, { timeoutMs })

/** The path of a callback's URL. */
function pathOf({ ctx }: Pick<InvokeRequest, 'ctx'>, name: string): string {
  return new URL(callbackUrl(ctx, name)).pathname
}

/** Starts a run, and returns it once its runner has received an invoke. */
async function start(handler: Handler, registration?: Record<string, unknown>) {
  const { name, runner, app } = await workflow(handler, registration === undefined ? {} : { registration })
  await runner.register(api, FEATURES)
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  const [invoke] = runner.record.of(runId) as [Invoke]
  return { runId, name, app, runner, invoke, path: (step: string) => pathOf(invoke, step) }
}

const twoSteps = flow([callback('approval', 60_000), run('end')], ({ approval }) => approval)

describe('a post', () => {
  test('completes the step that waits, once', async () => {
    const { runId, path } = await start(twoSteps)
    const until = new Date(clock.now() + 60_000).toISOString()
    expect((await waitsFor(api, runId, 'callback')).waitingFor).toEqual({
      kind: 'callback',
      stepName: 'approval',
      until,
    })
    const { sentence } = (await api.get(`/runs/${runId}/why`)).json as { sentence: string }
    expect(sentence).toContain('Step "approval" waits for its callback')
    const answer = await api.postText(path('approval'), '{"by": "ada", "amount": 12345678901234567890}')
    expect([answer.status, answer.json]).toEqual([202, { ok: true }])
    const ended = await api.request('GET', `/runs/${runId}/result?wait=10s`)
    expect(ended.text).toContain('"result":{"by":')
    expect((await api.step(runId, 'approval')).op).toBe('WaitForCallback')
    expect(await api.post(path('approval'), {})).toMatchObject({ status: 409, code: 'callback_used' })
  })

  test('that comes before the step waits is kept, and used once', async () => {
    const { runId, path } = await start(flow([sleep('nap', 5_000), callback('a'), callback('b')]))
    expect((await api.post(path('b'), 'second')).status).toBe(202)
    expect((await api.post(path('a'), 'first')).status).toBe(202)
    expect(await api.post(path('a'), 'again')).toMatchObject({ status: 409, code: 'callback_used' })
    clock.jump(5_000)
    expect((await api.succeeded(runId)).result).toMatchObject({ a: 'first', b: 'second' })
    expect(await api.post(path('b'), 'again')).toMatchObject({ status: 409, code: 'callback_used' })
  })

  test('without a body, or of null, gives {}, and other JSON as it is', async () => {
    const names = ['none', 'null', 'text', 'list', 'false']
    const { runId, path } = await start(flow([names.map(name => callback(name))]))
    const bodies = [undefined, null, 'yes', [1], false]
    for (const [i, name] of names.entries()) expect((await api.post(path(name), bodies[i])).status).toBe(202)
    expect((await api.succeeded(runId)).result).toEqual({ none: {}, null: {}, text: 'yes', list: [1], false: false })
  })

  test('after the timeout, or after the end of the run, is gone', async () => {
    const { runId, path } = await start(flow([callback('late', 1_000)]))
    clock.jump(1_000)
    await barrier()
    expect((await api.succeeded(runId)).result).toEqual({ late: null })
    expect((await api.step(runId, 'late')).timedOut).toBe(true)
    expect(await api.post(path('late'), {})).toMatchObject({ status: 410, code: 'gone' })
    expect(await api.post(path('never-asked'), {})).toMatchObject({ status: 410, code: 'gone' })
  })

  test('wakes a paused run when it is resumed, and a cancelled one takes none', async () => {
    const paused = await start(twoSteps)
    await api.post(`/runs/${paused.runId}/pause`)
    expect((await api.post(paused.path('approval'), 1)).status).toBe(202)
    expect((await api.run(paused.runId)).status).toBe('paused')
    await api.post(`/runs/${paused.runId}/resume`)
    expect((await api.succeeded(paused.runId)).result).toBe(1)
    const cancelled = await start(twoSteps)
    await api.post(`/runs/${cancelled.runId}/cancel`)
    expect(await api.post(cancelled.path('approval'), 1)).toMatchObject({ status: 410, code: 'gone' })
  })

  test('more than 10 in a second are refused, by token', async () => {
    const { path } = await start(flow([[callback('a'), callback('b')]]))
    const answers = []
    for (let i = 0; i < 12; i++) answers.push(await api.post(path('a'), i))
    expect(answers.map(({ status }) => status)).toEqual([202, ...Array(9).fill(409), 429, 429])
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('1')
    expect((await api.post(path('b'), 1)).status).toBe(202)
    clock.jump(1_000)
    expect((await api.post(path('a'), 1)).status).toBe(409)
  })

  test('has at most 1 MiB', async () => {
    const { path } = await start(twoSteps)
    const large = await api.post(path('approval'), 'x'.repeat(1024 * 1024))
    expect(large).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect((await api.post(path('approval'), 'x'.repeat(1024 * 1024 - 2))).status).toBe(202)
  })
})

describe('a token', () => {
  test('is for one callback of one run: anything else is not found, and looks the same', async () => {
    const one = await start(twoSteps)
    const other = await start(twoSteps)
    const [head, id, signature] = one.path('approval').split('.') as [string, string, string]
    const [otherHead] = other.path('approval').split('.') as [string]
    const wrong = [
      `${head}.${stepId('other')}.${signature}`,
      `${otherHead}.${id}.${signature}`,
      `${head}.${id}.${signature.slice(0, -1)}`,
      `${head}.${id}.${signature.toUpperCase()}`,
      `${head}.${id}`,
      '/callbacks/x',
      `/callbacks/${Buffer.from(`elsewhere ${one.runId}`).toString('base64url')}.${id}.${signature}`,
    ]
    for (const path of wrong) {
      const { status, json } = await api.post(path, {})
      const { message } = (json as { error: { message: string } }).error
      expect([path, status, message]).toEqual([path, 404, 'no such callback'])
    }
  })

  test('is not in the answers of other routes, and a fork has its own', async () => {
    const { runId, path, runner } = await start(twoSteps)
    const token = path('approval').split('.')[2] as string
    await api.post(path('approval'), 1)
    await api.succeeded(runId)
    for (const read of ['', '/steps', '/bundle', '/why', '/passes']) {
      const { text } = await api.get(`/runs/${runId}${read}`)
      expect(text).not.toContain(token)
    }
    const { id } = (await api.post(`/runs/${runId}/replay`)).json as { id: string }
    await api.reaches(id, 'waiting')
    const own = pathOf((runner.record.of(id) as [Invoke])[0], 'approval')
    expect(own).not.toBe(path('approval'))
    expect((await api.post(own, 2)).status).toBe(202)
    expect((await api.succeeded(id)).result).toBe(2)
  })

  test('goes with the run that is erased', async () => {
    const { runId, path } = await start(flow([sleep('nap', 1_000)]))
    await api.post(path('early'), { secret: 'payload' })
    clock.jump(1_000)
    await api.succeeded(runId)
    expect((await api.request('DELETE', `/runs/${runId}`)).status).toBe(204)
    expect(await api.post(path('early'), {})).toMatchObject({ status: 410, code: 'gone' })
  })

  test('is not sent to a runner that does not name the feature', async () => {
    const { name, runner } = await workflow(flow([run('a')]))
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    const [invoke] = runner.record.of(runId) as [Invoke]
    expect(invoke.ctx).not.toHaveProperty('callbackKey')
    expect(invoke.ctx).not.toHaveProperty('callbackUrl')
  })
})

describe('pages', () => {
  const origin = { origin: 'https://mail.example.com' }

  test('of every origin may post, and read the answer', async () => {
    const { path } = await start(twoSteps)
    const preflight = await api.request('OPTIONS', path('approval'), {
      headers: { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('Content-Type')
    const post = () =>
      api.request('POST', path('approval'), { headers: { ...origin, 'content-type': 'application/json' }, body: '1' })
    for (const status of [202, 409]) {
      const answer = await post()
      expect(answer.status).toBe(status)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test('get no other route by it, and other methods are refused', async () => {
    const { path } = await start(twoSteps)
    const other = await api.request('OPTIONS', '/events', {
      headers: { ...origin, 'access-control-request-method': 'POST' },
    })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const refused = await api.request(method, path('approval'))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })
})

test('the address of a URL is that of ENGINE_PUBLIC_URL', async () => {
  const engine = await openEngine({ env: { ENGINE_PUBLIC_URL: 'https://engine.example/base' } })
  const runner = await engine.runner({ workflows: { asks: twoSteps } })
  await runner.register(engine.api, FEATURES)
  const { runId } = await engine.api.send({ name: 'asks' })
  await engine.api.reaches(runId, 'waiting')
  const [{ ctx }] = runner.record.of(runId) as [Invoke]
  expect(callbackUrl(ctx, 'approval')).toMatch(
    /^https:\/\/engine\.example\/base\/callbacks\/[\w-]+\.[0-9a-f]{64}\.[0-9a-f]{64}$/,
  )
})
