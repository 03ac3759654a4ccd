// Events without the key of a policy (docs/flow-control.md#keys).

import { readFileSync } from 'node:fs'
import type { DryRunReply, SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { emit, flow, returned, scenario, unique, until } from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

const inputsOf = async (workflow: string) => {
  const runs = await api.runs(`?workflow=${workflow}&limit=200`)
  return Promise.all(runs.map(async ({ id }) => (await api.run(id)).input))
}

/** The first workflow of the page, with its options as written there. */
function firstSnippet(): { name: string; triggers: { event: string } } & Record<string, unknown> {
  const page = readFileSync(new URL('../../../docs/flow-control.md', import.meta.url), 'utf8')
  const [, code] = /```ts\n(.*?)```/s.exec(page) ?? []
  return new Function('handler', `const createWorkflow = options => options\nreturn ${code}`)()
}

test("the page's first workflow loses no customer's event, whatever the events lack", async () => {
  const { name, triggers, ...policies } = firstSnippet()
  await workflow(() => returned(), { name, registration: { triggers: [triggers], ...policies } })
  const send = async (event: string, data: object) =>
    (await api.post('/events', { name: `customer/${event}`, data })).json as SendEventReply
  const sent = [
    ['updated', { customer: 'ada', changeId: 7 }],
    ['updated', { customer: 'bob', changeId: 7 }],
    ['updated', { customer: 'cyd' }],
    ['moved', { name: 'dan' }],
    ['moved', { name: 'eve' }],
  ] as const
  const warnings = []
  for (const [event, data] of sent) warnings.push((await send(event, data)).warnings?.length)
  expect(warnings).toEqual([undefined, undefined, 1, 4, 4])
  clock.jump(5000)
  const inputs = await until(
    async () => {
      const inputs = await inputsOf(name)
      return inputs.length >= sent.length && inputs
    },
    { what: 'a run for each event' },
  )
  expect(inputs).toHaveLength(sent.length)
  expect(inputs).toEqual(expect.arrayContaining(sent.map(([, data]) => data)))
})

test('the answer and the log name workflow and policy; a duplicate has no warnings', async () => {
  const { name, app } = await workflow(() => returned(), {
    registration: { idempotency: { key: 'event.data.id' }, concurrency: { limit: 5, key: 'event.data.id' } },
  })
  const event = { name, data: {}, dedupeId: unique('once') }
  const dryRun = (await api.post('/events?dryRun=1', event)).json as DryRunReply
  const { warnings } = (await api.post('/events', event)).json as SendEventReply
  expect(warnings).toEqual([expect.stringContaining(`workflow "${name}" of app "${app}": idempotency does not apply`)])
  expect(dryRun).toMatchObject({
    warnings,
    workflows: [{ outcome: 'run', policies: { idempotency: { error: expect.any(String) } } }],
  })
  expect(dryRun.workflows[0]?.policies?.idempotency).not.toHaveProperty('key')
  expect((await api.post('/events', event)).json).toEqual({ deduped: true })
  const logged = engine.log.map(line => JSON.parse(line)).filter(line => line.workflow === name)
  expect(logged.map(({ policy }) => policy)).toEqual(['idempotency', undefined])
})

test('an emitted event without the key starts its run, and is logged', async () => {
  const { name } = await workflow(() => returned(), {
    registration: { singleton: { mode: 'skip', key: 'event.data.id' } },
  })
  const emitter = unique('emitter')
  await engine.runner({ workflows: { [emitter]: flow([[emit('one', name, {}), emit('two', name, {})]]) } })
  await api.succeeded((await api.send({ name: emitter })).runId)
  expect(await inputsOf(name)).toEqual([{}, {}])
  const logged = engine.log.map(line => JSON.parse(line)).filter(line => line.workflow === name)
  expect(logged).toMatchObject([{ policy: 'singleton', filter: 'event.data.id' }])
})
