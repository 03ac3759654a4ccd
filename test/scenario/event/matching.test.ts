// Which workflows an event starts, and how events are scoped, pinned and deduplicated (docs/events.md#triggers).

import { describe, expect, test } from 'vitest'
import { returned, scenario, unique } from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

/** Registers an app with one workflow that has these triggers. */
async function app(
  triggers?: { event: string; if?: string }[],
  options: { app?: string; name?: string; runner?: string } = {},
) {
  const name = options.name ?? unique('workflow')
  const registration = triggers === undefined ? {} : { triggers }
  const runner = await engine.runner({
    ...(options.app === undefined ? {} : { app: options.app }),
    ...(options.runner === undefined ? {} : { runner: options.runner }),
    workflows: { [name]: { handler: () => returned(), registration } },
  })
  return { app: runner.app, name, record: runner.record }
}

/** Everything that the event started, as `app/workflow`. */
async function starts(event: Record<string, unknown>): Promise<string[]> {
  return (await api.send(event)).triggered.map(({ workflow, app }) => `${app}/${workflow}`)
}

describe('triggers', () => {
  test('an exact name matches itself alone', async () => {
    const event = unique('order.paid')
    const { app: owner, name } = await app([{ event }])
    expect(await starts({ name: event })).toEqual([`${owner}/${name}`])
    expect(await starts({ name: `${event}.again` })).toEqual([])
    expect(await starts({ name: event.slice(0, -1) })).toEqual([])
    expect(await starts({ name: event.toUpperCase() })).toEqual([])
  })

  test('a trailing * matches every name that begins so, the bare prefix included', async () => {
    const prefix = unique('order.')
    const { app: owner, name } = await app([{ event: `${prefix}*` }])
    const hit = [`${owner}/${name}`]
    expect(await starts({ name: `${prefix}paid` })).toEqual(hit)
    expect(await starts({ name: `${prefix}paid.twice` })).toEqual(hit)
    expect(await starts({ name: prefix })).toEqual(hit)
    expect(await starts({ name: `an ${prefix}paid` })).toEqual([])
  })

  test('a * that is not at the end is a character like any other', async () => {
    const event = `${unique('a')}*b`
    const { app: owner, name } = await app([{ event }])
    expect(await starts({ name: event.replace('*', 'x') })).toEqual([])
    expect(await starts({ name: event })).toEqual([`${owner}/${name}`])
  })

  test('* alone matches every event of the app', async () => {
    const { app: owner, name } = await app([{ event: '*' }], { runner: 'greedy' })
    expect(await starts({ name: unique('anything'), app: owner })).toEqual([`${owner}/${name}`])
    await api.post('/register', { app: owner, runner: 'greedy', url: 'http://127.0.0.1:9/', workflows: [] })
  })

  test('omitted triggers are an implicit trigger on the workflow name, explicit ones replace it', async () => {
    const implicit = await app()
    expect(await starts({ name: implicit.name })).toEqual([`${implicit.app}/${implicit.name}`])
    const explicit = await app([{ event: unique('event') }])
    expect(await starts({ name: explicit.name })).toEqual([])
  })
})

describe('scope: app and targetApp', () => {
  test('without app the event is broadcast; triggered is sorted by workflow, then app', async () => {
    const event = unique('shared')
    const [b, a] = [unique('b-app'), unique('a-app')]
    await app([{ event }], { app: b, name: 'same' })
    await app([{ event }], { app: a, name: 'same' })
    await app([{ event }], { app: b, name: 'early' })
    const accepted = await api.send({ name: event })
    expect(accepted.triggered.map(({ workflow, app }) => [workflow, app])).toEqual([
      ['early', b],
      ['same', a],
      ['same', b],
    ])
    expect(accepted.runId).toBe(accepted.triggered[0]?.runId)
  })

  test("app scopes to that app's triggers", async () => {
    const event = unique('shared')
    const one = await app([{ event }])
    await app([{ event }])
    expect(await starts({ name: event, app: one.app })).toEqual([`${one.app}/${one.name}`])
    expect(await starts({ name: event })).toHaveLength(2)
    expect(await starts({ name: event, app: unique('nobody') })).toEqual([])
  })

  test('targetApp routes to that app alone, and the record keeps app', async () => {
    const event = unique('shared')
    const [one, two] = [await app([{ event }]), await app([{ event }])]
    const accepted = await api.send({ name: event, app: one.app, targetApp: two.app })
    expect(accepted.triggered).toEqual([{ workflow: two.name, app: two.app, runId: accepted.runId }])
    expect(await api.event(accepted.eventId)).toMatchObject({ app: one.app, triggered: accepted.triggered })
  })

  test('runner pins every run the event starts', async () => {
    const [event, pin, owner] = [unique('pinned'), unique('pin'), unique('app')]
    await app([{ event }], { app: owner, name: 'one', runner: pin })
    const { triggered } = await api.send({ name: event, runner: pin })
    expect((await api.succeeded(triggered[0]?.runId as string)).runner).toBe(pin)
    const anycast = await api.send({ name: event })
    expect(await api.succeeded(anycast.runId)).not.toHaveProperty('runner')
  })
})

describe('dedupeId', () => {
  const DAY_MS = 86_400_000

  test('a repeat is answered with just deduped, starts nothing and leaves no log row', async () => {
    const { name, app: owner } = await app()
    const event = { name, app: owner, dedupeId: unique('d'), data: 1 }
    const first = await api.send(event)
    expect(first.triggered).toHaveLength(1)
    const again = await api.post('/events', { ...event, data: 2 })
    expect(again.status).toBe(202)
    expect(again.json).toEqual({ deduped: true })
    const log = (await api.get(`/events?name=${name}`)).json as { id: string }[]
    expect(log.map(({ id }) => id)).toEqual([first.eventId])
    expect(await api.runs(`?app=${owner}`)).toHaveLength(1)
  })

  test('the same id is another one in another app, and in none', async () => {
    const name = unique('event')
    const dedupeId = unique('d')
    for (const scope of [{ app: 'one' }, { app: 'two' }, {}]) {
      expect(await api.send({ name, dedupeId, ...scope })).toHaveProperty('eventId')
      expect((await api.post('/events', { name, dedupeId, ...scope })).json).toEqual({ deduped: true })
    }
  })

  test('the window is 24 hours from the first', async () => {
    const event = { name: unique('event'), dedupeId: unique('d') }
    await api.send(event)
    clock.jump(DAY_MS - 1000)
    expect((await api.post('/events', event)).json).toEqual({ deduped: true })
    clock.jump(1001)
    expect(await api.send(event)).toHaveProperty('eventId')
  })

  test('of many racing posts with one id exactly one is accepted', async () => {
    const { name, app: owner } = await app()
    const post = () => api.post('/events', { name, app: owner, dedupeId: 'race' })
    const answers = await Promise.all(Array.from({ length: 20 }, post))
    expect(answers.filter(({ json }) => 'eventId' in (json as object))).toHaveLength(1)
    expect(answers.filter(({ json }) => 'deduped' in (json as object))).toHaveLength(19)
    expect(await api.runs(`?app=${owner}`)).toHaveLength(1)
  })

  test('a refused event does not use its id up', async () => {
    const event = { name: unique('event'), dedupeId: unique('d') }
    expect((await api.post('/events', { ...event, app: ' ' })).status).toBe(400)
    expect(await api.send(event)).toHaveProperty('eventId')
  })
})

describe('filters', () => {
  test('a workflow runs only for events that meet its filter', async () => {
    const event = unique('order')
    const { app: owner, name } = await app([{ event, if: 'event.data.total > 100 && event.data.country == "FR"' }])
    expect(await starts({ name: event, data: { total: 150, country: 'FR' } })).toEqual([`${owner}/${name}`])
    expect(await starts({ name: event, data: { total: 99, country: 'FR' } })).toEqual([])
    expect(await starts({ name: event, data: { total: 150, country: 'DE' } })).toEqual([])
  })

  test('one trigger that is met is enough, and starts one run', async () => {
    const event = unique('order')
    const triggers = [{ event, if: 'event.data.a == 1' }, { event: `${event}*` }, { event, if: 'event.data.b == 1' }]
    const { app: owner, name } = await app(triggers)
    expect(await starts({ name: event, data: { a: 1, b: 1 } })).toEqual([`${owner}/${name}`])
    expect(await starts({ name: event, data: { a: 2 } })).toEqual([`${owner}/${name}`])
  })

  test('a filter that fails does not match: a missing field, a wrong type, data that is not an object, null', async () => {
    const event = unique('order')
    await app([{ event, if: 'event.data.total > 100' }])
    for (const data of [{ other: 1 }, { total: 'much' }, [1, 2], null])
      expect(await starts({ name: event, data })).toEqual([])
  })

  test('without data the filter sees null', async () => {
    const event = unique('order')
    const { app: owner, name } = await app([{ event, if: 'event.data == null' }])
    expect(await starts({ name: event })).toEqual([`${owner}/${name}`])
  })

  test.each([
    ['event.data.total >', 'does not compile'],
    ['total > 100', 'Unknown variable: total'],
    ['1 + 1', 'gives int, not a bool'],
    ['event.name.matches("(")', 'not RE2'],
    ['event.name.matches("(a{100}){100}")', 'too large: about 10403 instructions, and 1000 are allowed'],
  ])('a filter that is no condition is refused at registration: %s', async (source, reason) => {
    const answer = await api.offer({ triggers: [{ event: 'a', if: source }] })
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.text).toContain(reason)
    expect(answer.text).toContain('workflows[0].triggers[0].if')
  })
})
