// `perdure events why` and `perdure runs export`, against the real engine.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CommandHost, type Exit, emit, flow, linesOf, run, scenario, tempStoreFile, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const ok = unique('ok')
await engine.runner({ workflows: { [ok]: flow([run('first')], (_, { event }) => ({ echo: event.data })) } })

const commands = new CommandHost()
const cli = (args: readonly string[]): Promise<Exit> => commands.run(args, { ENGINE_URL: engine.url })
const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

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
