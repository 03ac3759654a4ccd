// Budgets of runs, on both databases, and on PostgreSQL with two engines (docs/budgets.md): what counts, what happens to a run
// beyond a limit, and how a limit is raised.

import type { ControlAction, RunSummary, SetBudgetReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import {
  type Api,
  child,
  flow,
  type Handler,
  type Invoke,
  openDestination,
  openEngines,
  openRunner,
  PLACES,
  type Reply,
  run,
  type Step,
  StepFailure,
  sleep,
  step,
  undoing,
  unique,
  until,
} from '../../kit/index.ts'

const FEATURES = { features: ['budgets', 'cleanup', 'continue-as', 'end-with-steps'] }
const OPS_KEY = 'secret-key-of-ops'
const KEYS = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: OPS_KEY }])

/** A step whose attempt spends an amount. */
const spends = (name: string, spent: Record<string, number>): Step => step('StepRun', name, { data: name, spent })

interface Workflows {
  [name: string]: { handler: Handler; budget?: object; registration?: object }
}

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const opened = await openEngines(freshStore, count, {
    env: { ENGINE_API_KEYS: KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' },
  })
  const [api, other] = [opened.api.as(OPS_KEY), opened.other.as(OPS_KEY)]

  /** Registers workflows under unique names, which the handlers get. */
  async function open(make: (name: (short: string) => string) => Workflows, at: Api = api) {
    const suffix = unique('')
    const name = (short: string) => `${short}${suffix}`
    const workflows = Object.fromEntries(
      Object.entries(make(name)).map(([short, { handler, budget, registration }]) => [
        name(short),
        { handler, registration: { ...registration, ...(budget ? { budget } : {}) } },
      ]),
    )
    const runner = await openRunner({ workflows })
    await runner.register(at, FEATURES)
    return {
      runner,
      name,
      start: async (short: string, data?: unknown) => (await api.send({ name: name(short), data })).runId,
    }
  }

  const budget = async (runId: string) => (await other.run(runId)).budget
  const raise = async (runId: string, limits: object, at: Api = other) => at.post(`/runs/${runId}/budget`, limits)
  const raised = async (runId: string, limits: object) => {
    const { status, json } = await raise(runId, limits)
    expect(status).toBe(200)
    return json as SetBudgetReply
  }
  const actions = async (runId: string) =>
    (await api.get(`/control-actions?runId=${runId}&limit=10`)).json as ControlAction[]

  test('a run is paused at the step boundary after the limit, and goes on when it is raised', async () => {
    const { start, runner } = await open(() => ({
      spend: {
        budget: { usd: 1, tokens: 1000 },
        handler: flow([
          spends('a', { usd: 0.1 }),
          spends('b', { usd: 0.2, tokens: 12 }),
          spends('c', { usd: 0.8 }),
          run('d'),
        ]),
      },
    }))
    const id = await start('spend')
    const paused = await api.reaches(id, 'paused')
    expect(paused.waitingFor).toEqual({ kind: 'budget', name: 'usd', limit: 1, spent: 1.1, runId: id })
    expect((await api.steps(id)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(await budget(id)).toEqual({ tokens: { limit: 1000, spent: 12 }, usd: { limit: 1, spent: 1.1 } })
    expect(await api.runs(`?waitingFor=budget&workflow=${paused.workflow}`)).toMatchObject([{ id }])
    const { sentence } = (await api.get(`/runs/${id}/why`)).json as { sentence: string }
    expect(sentence).toContain('because its budget is exceeded: 1.1 of 1 usd were spent')
    const executed = runner.record.executed.length
    expect((await api.post(`/runs/${id}/resume`)).status).toBe(200)
    await until(async () => (await api.run(id)).waitingFor?.kind === 'budget')
    expect(runner.record.executed).toHaveLength(executed)
    expect(await raised(id, { usd: 1.05 })).toMatchObject({ runId: id, resumed: 1 })
    await until(async () => (await api.run(id)).waitingFor?.limit === 1.05)
    expect(await raised(id, { usd: 1.1, tokens: null })).toEqual({
      runId: id,
      budget: { usd: { limit: 1.1, spent: 1.1 } },
      resumed: 1,
    })
    expect((await api.succeeded(id)).result).toMatchObject({ d: 'd' })
    expect(await actions(id)).toMatchObject([
      { action: 'run.budget', actor: 'ops', detail: { usd: 1.1, tokens: null } },
      { action: 'run.budget', detail: { usd: 1.05 } },
      { action: 'resume' },
    ])
    expect((await raise(id, { usd: 3 })).json).toMatchObject({ error: { code: 'run_terminal' } })
  })

  test('a run fails with whenExceeded: fail, as an endpoint learns; a returned result stands', async () => {
    const destination = await openDestination()
    const { start, runner } = await open(() => ({
      strict: { budget: { usd: 1, whenExceeded: 'fail' }, handler: flow([spends('a', { usd: 2 }), run('b')]) },
      returns: {
        budget: { usd: 1, whenExceeded: 'fail' },
        handler: () => ({
          status: 200,
          body: { data: 'done', opcodes: [{ op: 'StepRun', id: 'x', name: 'x', spent: { usd: 9 } }] },
        }),
      },
    }))
    await api.post('/webhook-endpoints', { app: runner.app, url: destination.url, eventKinds: ['run.failed'] })
    const id = await start('strict')
    expect((await api.failed(id)).error).toMatchObject({
      code: 'budget_exceeded',
      message: `The budget of run ${id} is exceeded: 2 of 1 usd are spent.`,
    })
    await until(() => destination.requests.length > 0, { what: 'the post' })
    const { type, data } = JSON.parse(destination.requests[0]?.body ?? '')
    expect([type, data.run.id, data.run.error.code]).toEqual(['run.failed', id, 'budget_exceeded'])
    const done = await start('returns')
    expect((await api.succeeded(done)).result).toBe('done')
    expect(await budget(done)).toEqual({ usd: { limit: 1, spent: 9 } })
  })

  test('failed attempts count, and each attempt once', async () => {
    let attempts = 0
    const flaky: Step = {
      name: 'flaky',
      make: () => {
        attempts++
        const error = attempts < 3 ? { error: { message: 'no' }, retryAfterMs: 1 } : { data: attempts }
        return { op: 'StepRun', spent: { usd: 0.1 }, ...error }
      },
    }
    const { start } = await open(() => ({
      retries: { budget: { usd: 5, steps: 9 }, handler: flow([flaky, run('b')]) },
    }))
    const id = await start('retries')
    await api.succeeded(id)
    expect(await budget(id)).toEqual({ steps: { limit: 9, spent: 2 }, usd: { limit: 5, spent: 0.3 } })
  })

  test('children count for the runs above them, and stop with them; a child may have a budget of its own', async () => {
    const { start, name } = await open(name => ({
      root: {
        budget: { usd: 1, runs: 10 },
        handler: flow([[child('one', name('inner')), child('two', name('leaf'))], run('end')]),
      },
      inner: { budget: { usd: 0.2 }, handler: flow([child('deep', name('leaf')), run('x'), run('y')]) },
      leaf: { handler: flow([spends('a', { usd: 0.3 }), run('b')]) },
    }))
    const id = await start('root')
    const runOf = (workflow: string, parentRunId: string) =>
      until(async () => (await api.runs(`?parentRunId=${parentRunId}&workflow=${name(workflow)}`))[0], {
        what: workflow,
      })
    const inner = await runOf('inner', id)
    // The leaf below the inner run is beyond only the inner budget.
    const deep = await runOf('leaf', inner.id)
    await until(async () => (await api.run(deep.id)).waitingFor?.kind === 'budget')
    expect((await api.run(deep.id)).waitingFor).toMatchObject({ name: 'usd', limit: 0.2, spent: 0.3, runId: inner.id })
    await until(async () => (await api.steps(id)).find(({ name }) => name === 'two')?.status === 'succeeded')
    expect(await budget(id)).toEqual({ runs: { limit: 10, spent: 4 }, usd: { limit: 1, spent: 0.6 } })
    expect(await budget(deep.id)).toBeUndefined()
    const refused = await raise(deep.id, { usd: 9 })
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict', details: { runIds: [id, inner.id] } } },
    })
    expect((refused.json as { error: { message: string } }).error.message).toBe(
      `Run ${deep.id} has no budget of its own: it counts towards the budgets of runs ${id}, ${inner.id}.`,
    )
    // A limit of the root that is exceeded stops the inner run, although that run is within its own limit.
    expect(await raised(id, { usd: 0.5 })).toMatchObject({ resumed: 0 })
    expect(await raised(inner.id, { usd: 9 })).toMatchObject({ resumed: 1 })
    await until(async () => (await api.run(deep.id)).waitingFor?.runId === id)
    expect(await raised(id, { usd: null })).toMatchObject({ budget: { runs: { limit: 10, spent: 4 } }, resumed: 1 })
    await api.succeeded(id)
  })

  test('the engine counts steps of every kind, and runs with their root', async () => {
    const { start, name } = await open(name => ({
      root: {
        budget: { steps: 3, runs: 2 },
        handler: flow([sleep('nap', 1), run('a'), child('one', name('leaf')), child('two', name('leaf')), run('b')]),
      },
      leaf: { handler: flow([run('x')]) },
    }))
    const id = await start('root')
    const paused = () =>
      until(async () => (await api.runs(`?parentRunId=${id}&workflow=${name('leaf')}&waitingFor=budget`))[0])
    expect((await paused()).waitingFor).toMatchObject({ name: 'steps', limit: 3, spent: 4, runId: id })
    expect(await budget(id)).toEqual({ runs: { limit: 2, spent: 2 }, steps: { limit: 3, spent: 4 } })
    await raised(id, { steps: null })
    // The second child is one too many. It stops before its first step, and its parent waits for it.
    const leaf = await paused()
    expect(leaf.waitingFor).toMatchObject({ name: 'runs', limit: 2, spent: 3, runId: id })
    expect(await api.steps(leaf.id)).toEqual([])
    await raised(id, { runs: 3 })
    await api.succeeded(id)
  })

  test('the budget follows the chain; a fork begins at 0, outside of the budgets above its source', async () => {
    const links: Handler = (invoke: Invoke): Reply => {
      const left = (invoke.event.data as { left: number }).left
      const opcodes = [{ op: 'StepRun', id: 'x', name: 'x', data: 1, spent: { usd: 0.3 } }]
      return left > 0
        ? { status: 200, body: { continueAs: { data: { left: left - 1 } }, opcodes } }
        : { status: 200, body: { data: 'end', opcodes } }
    }
    const { start, name } = await open(name => ({
      loop: { budget: { usd: 0.7 }, handler: links },
      root: { budget: { usd: 5 }, handler: flow([child('one', name('leaf'))]) },
      leaf: { handler: flow([spends('a', { usd: 1 })]) },
    }))
    const first = await start('loop', { left: 3 })
    const last = await until(async () => (await api.runs(`?workflow=${name('loop')}&waitingFor=budget`))[0])
    expect(last.waitingFor).toMatchObject({ name: 'usd', limit: 0.7, spent: 0.9, runId: first })
    expect(await budget(last.id)).toEqual({ usd: { limit: 0.7, spent: 0.9 } })
    // The id of any run of the chain identifies the chain's budget.
    expect(await raised(first, { usd: 1 })).toMatchObject({ runId: first, resumed: 1 })
    await api.succeeded(last.id)
    expect(await budget(first)).toEqual({ usd: { limit: 1, spent: 1.2 } })
    const forked = (await api.post(`/runs/${last.id}/replay`)).json as RunSummary
    await api.succeeded(forked.id)
    expect(await budget(forked.id)).toEqual({ usd: { limit: 0.7, spent: 0.3 } })

    const root = await start('root')
    await api.succeeded(root)
    const [leaf] = await api.runs(`?parentRunId=${root}`)
    const fork = (await api.post(`/runs/${leaf?.id}/replay`)).json as RunSummary
    await api.succeeded(fork.id)
    expect(await budget(root)).toEqual({ usd: { limit: 5, spent: 1 } })
  })

  test('on-failure and cleanup runs are under no budget', async () => {
    const breaks = run('break', () => {
      throw new StepFailure('no', { retriable: false })
    })
    const { start } = await open(() => ({
      broken: {
        budget: { usd: 5, runs: 5, steps: 5 },
        registration: { onFailure: true },
        handler: undoing(async (invoke, pass) =>
          invoke.ctx.onFailure
            ? flow([spends('tidy', { usd: 1 })])(invoke, pass)
            : flow([run('a', () => 1, { rollback: true }), breaks])(invoke, pass),
        ),
      },
    }))
    const id = await start('broken')
    await api.failed(id)
    await until(async () => {
      const followers = await api.runs(`?parentRunId=${id}`)
      return followers.length === 2 && followers.every(({ status }) => status === 'succeeded')
    })
    expect(await budget(id)).toEqual({
      runs: { limit: 5, spent: 1 },
      steps: { limit: 5, spent: 2 },
      usd: { limit: 5, spent: 0 },
    })
  })

  test('spends of a runner without the feature, and without a budget in the tree, are ignored', async () => {
    const { start, runner } = await open(() => ({
      free: { handler: flow([spends('a', { usd: 1 })]) },
      kept: { budget: { usd: 1 }, handler: flow([spends('a', { usd: 2 }), run('b')]) },
    }))
    const id = await start('free')
    expect(await api.succeeded(id)).not.toHaveProperty('budget')
    await runner.register(api, { features: [] })
    const kept = await start('kept')
    await api.succeeded(kept)
    expect(await budget(kept)).toEqual({ usd: { limit: 1, spent: 0 } })
  })

  test('sums are exact, and rounded to nine decimals', async () => {
    const tenth = Array.from({ length: 10 }, (_, i) => spends(`s${i}`, { usd: 0.1, big: 1e9, tiny: 0.0000000014 }))
    const { start } = await open(() => ({ sums: { budget: { usd: 1, big: 1e9, tiny: 1 }, handler: flow([tenth]) } }))
    const id = await start('sums')
    await api.reaches(id, 'paused')
    expect(await budget(id)).toEqual({
      big: { limit: 1e9, spent: 1e10 },
      tiny: { limit: 1, spent: 0.00000001 },
      usd: { limit: 1, spent: 1 },
    })
  })

  test('bad limits and bad reports are refused by name', async () => {
    const { start } = await open(() => ({ ok: { budget: { usd: 1 }, handler: flow([sleep('a', 3_600_000)]) } }))
    const id = await start('ok')
    await api.reaches(id, 'waiting')
    const free = await (await open(() => ({ free: { handler: flow([sleep('a', 3_600_000)]) } }))).start('free')
    expect(await raise(free, { usd: 1 })).toMatchObject({
      status: 409,
      json: { error: { message: `Run ${free} has no budget of its own, and no run above it has one.` } },
    })
    expect((await raise('run_unknown', { usd: 1 })).status).toBe(404)
    const raiseIt = (limits: object) => raise(id, limits)
    const offerIt = (budget: object) => api.offer({ budget })
    const tooMany = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 1]))
    for (const [refuses, body, message] of [
      [raiseIt, {}, 'must set at least one limit'],
      [raiseIt, { usd: -1 }, 'usd'],
      [raiseIt, { usd: 'ten' }, 'usd'],
      [raiseIt, { usd: 1e10 }, 'usd'],
      [raiseIt, { 'no name': 1 }, 'a member whose name does not match'],
      [raiseIt, tooMany(16), '16 names besides steps and runs'],
      [offerIt, { usd: -1 }, 'budget'],
      [offerIt, { usd: 'pause' }, 'workflow "w": budget.usd must be a number from 0 to 1000000000'],
      [offerIt, { whenExceeded: 3 }, 'workflow "w": budget.whenExceeded must be pause or fail'],
      [offerIt, tooMany(17), '16 names besides steps and runs'],
    ] as const) {
      const { status, json } = await refuses(body)
      expect([status, (json as { error: { message: string } }).error.message]).toEqual([
        400,
        expect.stringContaining(message),
      ])
    }
    const bad = await open(() => ({ bad: { budget: { usd: 1 }, handler: flow([spends('a', { usd: -1 })]) } }))
    const badId = await bad.start('bad')
    expect((await api.failed(badId)).error).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('/opcodes/0/spent/usd'),
    })
  })

  test('a deletion takes the budget along, with the last run of its chain', async () => {
    const { start } = await open(() => ({ one: { budget: { usd: 1 }, handler: flow([spends('a', { usd: 0.5 })]) } }))
    const id = await start('one')
    await api.succeeded(id)
    expect((await api.request('DELETE', `/runs/${id}`)).status).toBe(204)
    expect((await raise(id, { usd: 2 })).status).toBe(404)
  })

  test('after all of that, verify finds every sum that the engine counts as it must be', async () => {
    expect(await violationsIn(opened.storeFile)).toEqual([])
  })
})
