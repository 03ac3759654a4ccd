// `perdure workflows start` and `perdure events redrive` against the real engine.

import { expect, test } from 'vitest'
import { CommandHost, flow, linesOf, returned, run, StepFailure, scenario, unique, wait } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const [ok, bad] = [unique('ok'), unique('bad')]
const fails = () => {
  throw new StepFailure('no luck', { retriable: false })
}
const runner = await engine.runner({
  workflows: { [ok]: invoke => returned(invoke.event.data), [bad]: flow([run('breaks', fails)]) },
})
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: engine.url })
const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

test('workflows start starts a run of any workflow, once for each id, and can wait for it', async () => {
  const runId = `run_${unique('started')}-1234`
  const start = ['workflows', 'start', runner.app, ok, '--run-id', runId]
  const dry = await cli([...start, '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stdout: 'a run would start\n' })
  expect(await lines('workflows', 'start', runner.app, ok, '--dry-run')).toMatchObject([
    { dryRun: true, outcome: 'run' },
  ])
  const first = await cli([...start, '--input', '{"n":1}', '--attribute', 'tier:gold', '--wait'])
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toContain(`${runId}  ${runner.app}/${ok}`)
  expect(await api.run(runId)).toMatchObject({ status: 'succeeded', input: { n: 1 }, attributes: { tier: 'gold' } })
  expect((await cli([...start, '--input', '2'])).stdout).toBe(
    `${runId}  ${runner.app}/${ok}  succeeded  (already exists)\n`,
  )
  expect((await cli([...start, '--dry-run'])).stdout).toBe(`${runId} already exists\n`)
  expect((await cli(['runs', 'get', runId])).stdout).toContain('succeeded')
  expect((await cli(['workflows', 'start', runner.app, bad, '--wait'])).code).toBe(1)
  expect((await cli(['workflows', 'start', runner.app, 'nobody'])).stderr).toContain('There is no workflow nobody')
})

test('workflows start names every fault of the input by the schema of the workflow, and sends nothing', async () => {
  const name = unique('typed')
  const count = { type: 'integer', maximum: 20_000_000_000_000_000_000 }
  const members = { id: { type: 'string', pattern: '(?i)^O-[0-9]+$' }, count }
  const input = { type: 'object', required: ['id', 'count'], properties: members }
  const { app } = await engine.runner({ workflows: { [name]: { handler: flow([]), registration: { input } } } })
  const start = ['workflows', 'start', app, name]
  const faults = 'input.id must match (?i)^O-[0-9]+$; input.count must be an integer, not a number'
  const given = ['--input', '{"id":"x","count":1.5}']
  for (const more of [[], ['--json'], ['--dry-run']])
    expect(await cli([...start, ...given, ...more])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `perdure: ${faults}\n`,
    })
  expect((await cli(start)).stderr).toContain('input is required: the workflow has a schema for it')
  expect(await api.runs(`?workflow=${name}`)).toEqual([])
  const refused = await api.post(`/workflows/${app}/${name}/runs`, { input: { id: 'x', count: 1.5 } })
  expect(refused.json).toMatchObject({ error: { message: faults } })
  expect((await cli([...start, '--input', '{"id":"o-1","count":12345678901234567890}'])).code).toBe(0)
})

test('workflows limits sets limits and shows them, and reset-limits removes them', async () => {
  const name = unique('limited')
  const registration = { concurrency: { limit: 4 }, throttle: { limit: 9, period: '1m' } }
  const { app } = await engine.runner({ workflows: { [name]: { handler: flow([]), registration } } })
  const set = ['workflows', 'limits', app, name]
  expect((await cli([...set, 'concurrency=2', 'throttle=0'])).stdout).toBe(`${name} concurrency=2 throttle=0\n`)
  expect(await lines(...set, 'concurrency=none', 'throttle=3')).toMatchObject([{ name, limits: { throttle: 3 } }])
  expect((await cli([...set, 'throttle=fast'])).stderr).toContain('a limit must be')
  expect((await cli(['workflows', 'reset-limits', app, name])).stdout).toBe(`${name} has its registered limits\n`)
})

test('workflows start with a key: the live run is named, used or replaced, and the list finds it', async () => {
  const name = unique('held')
  const { app } = await engine.runner({ workflows: { [name]: flow([wait('hold', 'nothing')]) } })
  const start = ['workflows', 'start', app, name, '--key', name]
  const id = (await cli(start)).stdout.split(' ')[0] ?? ''
  expect((await cli(start)).stdout).toMatch(new RegExp(`^${id}  ${app}/${name}  \\w+  \\(already exists\\)\n$`))
  expect((await cli([...start, '--dry-run'])).stdout).toBe(`${id} already exists\n`)
  const refuse = [...start, '--if-running', 'refuse']
  expect((await cli([...refuse, '--dry-run'])).stdout).toBe(`the start would be refused: ${id} is live\n`)
  expect((await cli(refuse)).stderr).toContain(`Run ${id} of workflow "${name}"`)
  const [next] = await lines<{ id: string }>(...start, '--if-running', 'cancel')
  expect((await lines<{ id: string }>('runs', 'list', '--key', name)).map(run => run.id)).toEqual([next?.id, id])
})

test('events redrive starts a workflow with events of the log', async () => {
  const name = unique('logged')
  const { eventId } = await api.send({ name, data: 7 })
  const all = ['events', 'redrive', '--name', name, '--since', '1h', '--workflow', ok]
  expect((await cli([...all, '--dry-run'])).stdout).toBe('1 events, 1 runs would be started, 0 skipped, 0 failed\n')
  expect(await lines(...all)).toEqual([{ matched: 1, started: 1, skipped: 0, failed: 0, capped: false }])
  expect((await cli(all)).stdout).toBe('1 events, 0 runs started, 1 skipped, 0 failed\n')
  expect((await cli(['events', 'redrive', eventId, '--workflow', ok])).stdout).toContain(`${runner.app}/${ok}`)
  const runs = await api.runs(`?eventId=${eventId}`)
  expect(runs).toHaveLength(2)
  expect((await cli(['events', 'redrive', '--workflow', ok])).code).toBe(2)
  expect((await cli(['events', 'redrive', '--name', name, '--workflow', ok])).stderr).toContain('give --since')
  expect((await cli(['events', 'redrive', eventId, '--workflow', ok, '--dry-run'])).code).toBe(2)
})
