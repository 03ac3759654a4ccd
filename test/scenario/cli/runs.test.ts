// Commands about runs and events beyond the basics in cli.test.ts, against the real engine: retry, export and tokens
// (docs/security.md#run-tokens), budgets (docs/budgets.md#raise-a-limit), what an event did, and events of ended runs
// (docs/events.md#events-of-the-engine).

import { readFileSync } from 'node:fs'
import type { EventRecord, RunToken, SendEventReply, StartedRun } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  CommandHost,
  emit,
  flow,
  linesOf,
  returned,
  run,
  StepFailure,
  scenario,
  step,
  tempStoreFile,
  unique,
  until,
} from '../../kit/index.ts'

const { api, engine, workflow } = await scenario({ realTime: true })
const [ok, broken] = [unique('ok'), unique('broken')]
const refuse = () => {
  throw new StepFailure('no luck', { retriable: false })
}
const { record } = await engine.runner({
  workflows: { [ok]: flow([run('first')]), [broken]: flow([run('first'), run('second', refuse)]) },
})
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: engine.url })
const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

test('retry without a step starts at the step that failed', async () => {
  const { runId } = await api.send({ name: broken })
  await api.reaches(runId, 'failed')
  const { stdout } = await cli(['runs', 'retry', runId])
  const id = /run_\w+/.exec(stdout)?.[0] as string
  expect(await api.reaches(id, 'failed')).toMatchObject({ replayOf: runId, error: { stepName: 'second' } })
  expect(record.names(id)).toEqual(['second'])
})

test('retry refuses a run without a failed step, and a step for many runs', async () => {
  const { runId } = await api.send({ name: ok })
  await api.succeeded(runId)
  const [none, many] = [`no step of ${runId} has failed: choose one with --step`, '--step needs a run id']
  expect(await cli(['runs', 'retry', runId])).toMatchObject({ code: 2, stderr: expect.stringContaining(none) })
  const ofMany = ['runs', 'retry', '--workflow', broken, '--step', 'second', '--yes']
  expect(await cli(ofMany)).toMatchObject({ code: 2, stderr: expect.stringContaining(many) })
})

test('runs export: the document of the engine, to the letter, or without payloads into a new file', async () => {
  const { json } = await api.postText('/events', `{"name":"${ok}","data":{"n":12345678901234567890}}`)
  const { runId } = json as { runId: string }
  await api.succeeded(runId)
  const whole = await cli(['runs', 'export', runId])
  expect(whole.stdout).toContain('12345678901234567890')
  expect(JSON.parse(whole.stdout)).toMatchObject({ 'perdure-bundle': 1, run: { id: runId } })
  const output = tempStoreFile()
  expect(await cli(['runs', 'export', runId, '--no-payloads', '--output', output])).toMatchObject({
    code: 0,
    stdout: '',
  })
  expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({ payloads: false, run: { input: null } })
  expect(await cli(['runs', 'export', runId, '--output', output])).toMatchObject({ code: 2 })
  expect(await cli(['runs', 'export', 'run_none'])).toMatchObject({ code: 1 })
})

test('why: what an event did, and what it would do now', async () => {
  const name = unique('unheard')
  const { eventId } = await api.send({ name })
  const then = await cli(['events', 'why', eventId])
  expect(then.stdout).toContain(`The event started nothing: no workflow has a trigger for "${name}"`)
  const [value] = await lines<{ now: boolean }>('events', 'why', eventId, '--now')
  expect(value).toMatchObject({ now: true, workflows: [] })
  expect(await cli(['events', 'why', 'evt_none'])).toMatchObject({ code: 1 })
})

test('runs steps: what the event of an emit started and woke, and the start that a singleton skipped', async () => {
  const [heard, looped] = [unique('heard'), unique('looped')]
  await engine.runner({
    app: 'shop',
    workflows: {
      [heard]: { handler: flow([]), registration: { triggers: [{ event: looped }] } },
      [looped]: { handler: flow([emit('again', looped)]), registration: { singleton: { mode: 'skip' } } },
    },
  })
  const { triggered } = await api.send({ name: looped })
  const runId = triggered.find(({ workflow }) => workflow === looped)?.runId as string
  await api.succeeded(runId)
  const { effects } = (await api.step(runId, 'again')) as { effects: { triggered: { runId?: string }[] } }
  const started = effects.triggered.find(one => one.runId !== undefined)?.runId as string
  const { stdout } = await cli(['runs', 'steps', runId, '--step', 'again'])
  expect(stdout).toMatch(new RegExp(`triggered +shop/${heard}  ${started}\n`))
  expect(stdout).toMatch(new RegExp(`triggered +shop/${looped}  skipped: ${runId} is live\n`))
  expect((await cli(['runs', 'steps', runId])).stdout).toContain(`${looped}  started 1, skipped 1`)
})

test('tokens: made of a run, and beside a run that a command starts', async () => {
  const { name, app } = await workflow(() => returned('done'))
  const sent = await cli(['events', 'send', name, '--token', '1h', '--json'])
  const { runId = '', token: first = '' } = JSON.parse(sent.stdout) as SendEventReply
  const started = await cli(['workflows', 'start', app, name, '--token', '5m', '--json'])
  const { id, token: second = '' } = JSON.parse(started.stdout) as StartedRun
  const made = await cli(['runs', 'token', runId, '--ttl', '15m', '--json'])
  const { token: third } = JSON.parse(made.stdout) as RunToken
  for (const [of, token] of [
    [runId, first],
    [id, second],
    [runId, third],
  ] as const)
    expect((await api.get(`/runs/${of}?token=${token}`)).status).toBe(200)
  const { stdout } = await cli(['runs', 'token', runId])
  expect(stdout).toMatch(/^pdt_[\w-]+\.[\w-]+\nuntil .+\n$/)
  expect((await cli(['events', 'send', name, '--token', '1h'])).stdout).toMatch(/\npdt_\S+\nuntil .+\n$/)
  const refused = await cli(['runs', 'token', runId, '--ttl', '25h'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('ttl must be from 1 second to 24 hours')])
})

test('budgets: a run beyond its limit is found, shown and explained, and a raised limit resumes it', async () => {
  const research = unique('research')
  const runner = await engine.runner({
    workflows: {
      [research]: {
        handler: flow([step('StepRun', 'ask', { data: 1, spent: { usd: 1.5 } }), run('answer')], () => 'yes'),
        registration: { budget: { usd: 1, tokens: 5000 } },
      },
    },
  })
  await runner.register(api, { features: ['budgets'] })
  const { runId } = await api.send({ name: research })
  await api.reaches(runId, 'paused')
  const [found] = await lines<{ id: string }>('runs', 'list', '--waiting-for', 'budget')
  expect(found?.id).toBe(runId)
  const { stdout } = await cli(['runs', 'get', runId])
  expect(stdout).toMatch(/budget +1\.5 of 1 usd\n/)
  expect(stdout).toMatch(/budget +0 of 5000 tokens\n/)
  expect(stdout).toMatch(new RegExp(`waits for +the budget of ${runId}: 1.5 of 1 usd spent`))
  expect((await cli(['runs', 'why', runId])).stdout).toContain('1.5 of 1 usd were spent')
  const wrong = await cli(['runs', 'budget', runId, 'usd=ten'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('NAME=NUMBER or NAME=none') })
  const raised = await cli(['runs', 'budget', runId, 'usd=10', 'tokens=none'])
  expect(raised.stdout).toBe('usd 1.5 of 10\n1 run resumed\n')
  expect((await api.succeeded(runId)).result).toBe('yes')
  const [ended] = await lines<object>('runs', 'get', runId)
  expect(ended).toMatchObject({ budget: { usd: { limit: 10, spent: 1.5 } } })
})

test('events of ended runs: listed by their source, shown with their data, explained, and redriven', async () => {
  const [order, alert] = [unique('order'), unique('alert')]
  await engine.runner({
    app: 'shop',
    workflows: {
      [order]: flow([step('StepRun', 'print', { error: { message: 'no paper' }, retriable: false })]),
      [alert]: {
        handler: () => returned(1),
        registration: { triggers: [{ event: 'perdure/run.*', if: `event.data.workflow == '${order}'` }] },
      },
    },
  })
  const { runId } = await api.send({ name: order })
  const alerted = await until(async () => (await api.runs(`?workflow=${alert}`))[0], { what: 'the alert' })
  const { stdout } = await cli(['events', 'list', '--source', 'engine'])
  expect(stdout).toMatch(/perdure\/run\.failed +shop +engine /)
  const of = { '--name': 'perdure/run.failed', '--source': 'engine' }
  const [event] = await lines<EventRecord>('events', 'list', ...Object.entries(of).flat())
  expect(event).toMatchObject({ source: 'engine', app: 'shop', data: { runId, status: 'failed', workflow: order } })
  const shown = await cli(['events', 'get', event?.id as string])
  expect(shown.stdout).toMatch(/source +engine/)
  for (const text of [runId, 'no paper', alerted.id]) expect(shown.stdout).toContain(text)
  expect((await cli(['events', 'why', event?.id as string])).stdout).toContain(`shop/${alert}  run:`)
  const redriven = await cli(['events', 'redrive', event?.id as string, '--workflow', alert])
  expect(redriven.code, redriven.stderr).toBe(0)
  await until(async () => (await api.runs(`?workflow=${alert}`)).length === 2, { what: 'the second alert' })
  const sent = await cli(['events', 'send', 'perdure/run.failed'])
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining('only the engine sends such events') })
})
