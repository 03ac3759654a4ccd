// Chains of runs that start each other (docs/concepts.md#chains): runs carry their generation, and a chain ends at a bound.

import type { EventExplanation, Run, RunExplanation } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { child, emit, flow, type Handler, run, StepFailure, scenario, unique, until } from '../../kit/index.ts'

const MAX = 30
const { api, clock, engine } = await scenario({ env: { ENGINE_GENERATION_LIMIT: String(MAX) } })

const get = async <T>(path: string) => (await api.get(path)).json as T
const why = (runId: string) => get<RunExplanation>(`/runs/${runId}/why`)

async function serve(
  handler: Handler,
  registration: Record<string, unknown> = {},
): Promise<{ app: string; name: string }> {
  const name = unique('loop')
  const app = unique('app')
  await engine.runner({ app, workflows: { [name]: { handler, registration } } })
  return { app, name }
}

/** All runs of the app, by generation, once none is live. */
async function ended(app: string): Promise<Run[]> {
  await until(async () => {
    const runs = await api.runs(`?app=${app}&status=queued,running,waiting`)
    return runs.length === 0
  })
  const runs = await api.runs(`?app=${app}&limit=200&dir=asc`)
  const whole = await Promise.all(runs.map(({ id }) => api.run(id)))
  // Runs of the same millisecond have no order.
  return whole.sort((a, b) => (a.generation ?? 0) - (b.generation ?? 0))
}

/** The generations of the runs. Each chain is numbered without gaps. */
const generations = (runs: readonly Run[]) => runs.map(({ generation = 0 }) => generation)
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, i) => i)

test('a workflow that starts itself as a child ends at the bound, with an error that says so', async () => {
  const self: { name?: string } = {}
  const { app, name } = await serve((invoke, record) => flow([child('again', self.name as string)])(invoke, record))
  self.name = name
  await api.send({ app, name })
  const runs = await ended(app)
  expect(generations(runs)).toEqual(upTo(MAX))
  const last = runs.at(-1) as Run
  const step = await api.step(last.id, 'again')
  expect(step).toMatchObject({ status: 'failed', error: { name: 'ChainTooLongError' } })
  expect(step.error?.message).toContain(`Workflow "${name}" of app "${app}" was not started`)
  expect(step.error?.message).toContain(`ENGINE_GENERATION_LIMIT is ${MAX}`)
  // The handler ignored the error, so every parent has the result of its child.
  expect(last.status).toBe('succeeded')
  expect(await why(last.id)).toMatchObject({
    generation: MAX,
    warnings: [expect.stringContaining(`Generation ${MAX}`)],
  })
  expect((await why(runs[20]?.id as string)).warnings).toHaveLength(1)
  expect(await why(runs[19]?.id as string)).not.toHaveProperty('warnings')
})

test('a trigger that emits its own event ends at the bound, and says what the event would have started', async () => {
  const topic = unique('order')
  const { app, name } = await serve(flow([emit('again', `${topic}/updated`)]), { triggers: [{ event: `${topic}/*` }] })
  await api.send({ name: `${topic}/placed` })
  const runs = await ended(app)
  expect(generations(runs)).toEqual(upTo(MAX))
  const last = runs.at(-1) as Run
  const { error } = await api.step(last.id, 'again')
  expect(error?.name).toBe('ChainTooLongError')
  expect(error?.message).toContain(
    `Event "${topic}/updated" was not emitted, since it triggers workflow "${name}" of app "${app}"`,
  )
  const event = await get<EventExplanation>(`/events/${last.eventId}/why`)
  expect(event.warnings).toEqual([expect.stringContaining(`Generation ${MAX}`)])
  expect(await get<EventExplanation>(`/events/${runs[3]?.eventId}/why`)).not.toHaveProperty('warnings')
})

test('an event that starts nothing is emitted at any generation', async () => {
  const topic = unique('order')
  const { app } = await serve(flow([emit('told', `${topic}.told`), emit('again', topic)]), {
    triggers: [{ event: topic }],
  })
  await api.send({ name: topic })
  const runs = await ended(app)
  const last = runs.at(-1) as Run
  expect(await api.step(last.id, 'told')).toMatchObject({ status: 'succeeded' })
  expect(await api.step(last.id, 'again')).toMatchObject({ status: 'failed' })
})

test('a chain goes on through debounces, failure handlers and replays', async () => {
  const topic = unique('order')
  const breaks = run('break', () => {
    throw new StepFailure('no card', { retriable: false })
  })
  const { app } = await serve(
    (invoke, record) => flow(invoke.ctx.onFailure ? [emit('again', topic)] : [breaks])(invoke, record),
    { onFailure: true, triggers: [{ event: topic }], debounce: { period: '1s' } },
  )
  await api.send({ name: topic })
  await until(async () => {
    clock.jump(1000)
    const runs = await api.runs(`?app=${app}&kind=onFailure&status=succeeded&limit=200`)
    return runs.length > MAX
  })
  const runs = await ended(app)
  // Each failure and its handler have the same generation.
  expect(generations(runs)).toEqual(upTo(MAX).flatMap(generation => [generation, generation]))
  const fourth = runs.find(({ generation }) => generation === 4)
  const { json } = await api.post(`/runs/${fourth?.id}/replay`)
  expect((await api.run((json as { id: string }).id)).generation).toBe(4)
})
