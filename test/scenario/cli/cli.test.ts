// The `perdure` command against the real engine: its output for people and for scripts, and its exit codes.

import { writeFileSync } from 'node:fs'
import type { Run, RunFacets, RunLogLine, RunSummary, TimelineFrame } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type CliOptions,
  CommandHost,
  discovered,
  type Exit,
  flow,
  jsonLines,
  linesOf,
  opcode,
  openEngine,
  perdure,
  returned,
  run,
  StepFailure,
  scenario,
  tempStoreFile,
  unique,
  wait,
} from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const [ok, bad, held, chatty] = ['ok', 'bad', 'held', 'chatty'].map(unique) as [string, string, string, string]
const GO = unique('go')
const runner = await engine.runner({
  app: unique('shop'),
  runner: unique('runner'),
  workflows: {
    [ok]: flow([run('first'), run('second')], (_, { event }) => ({ echo: event.data })),
    [bad]: flow([
      run('breaks', () => {
        throw new StepFailure('no luck\u001b[2J', { retriable: false })
      }),
    ]),
    [held]: flow([wait('gate', GO)]),
    [chatty]: ({ pass }) => {
      const logs = [{ level: 'warn' as const, message: 'mind\nthe gap', scope: '@root', index: 0, fields: { n: 1 } }]
      return pass === 1 ? discovered([opcode('StepRun', 'a', { data: 1 })], logs) : returned(1, logs)
    },
  },
})

const commands = new CommandHost()

/** Runs a command line on the engine; with options, in its own process. */
const cli = (args: readonly string[], options?: CliOptions): Promise<Exit> =>
  options === undefined
    ? commands.run(args, { ENGINE_URL: engine.url })
    : perdure(args, { ...options, env: { ENGINE_URL: engine.url, ...options.env } })

const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

/** The lines of a table: first the titles, then the cells. */
const cells = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split(/ {2,}/))

async function start(name: string, data?: unknown): Promise<string> {
  return (await api.send({ name, data })).runId
}

async function ended(name: string, status: 'succeeded' | 'failed' = 'succeeded', data?: unknown): Promise<string> {
  return (await api.reaches(await start(name, data), status)).id
}

test('numbers beyond 2^53 keep their digits, sent and shown', async () => {
  const data = '{"id":9007199254740993,"list":[18446744073709551615]}'
  const [{ eventId }] = (await lines('events', 'send', unique('digits'), '--data', data)) as [{ eventId: string }]
  const shown = [(await api.get(`/events/${eventId}`)).text, (await cli(['events', 'get', eventId, '--json'])).stdout]
  for (const text of shown) expect(text).toContain(`"data":${data}`)
})

describe('runs', () => {
  test('list: a table for people, lines for scripts, filtered', async () => {
    const failed = await ended(bad, 'failed')
    const done = await ended(ok)
    const [people, script, few, none, counts] = await Promise.all([
      cli(['runs', 'list', '--app', runner.app, '--status', 'failed', '--status', 'cancelled', '-q', bad]),
      lines<RunSummary>('runs', 'list', '--app', runner.app, '--since', '1h'),
      lines<RunSummary>('runs', 'list', '--limit', '1'),
      cli(['runs', 'list', '--app', 'nobody']),
      lines<RunFacets>('stats', 'facets', '--app', runner.app, '--status', 'failed'),
    ])
    expect(counts).toMatchObject([{ status: { failed: 1, succeeded: 1 }, workflow: [{ workflow: bad, runs: 1 }] }])
    expect(cells(people.stdout)).toEqual([
      ['ID', 'STATUS', 'WORKFLOW', 'APP', 'CREATED', 'TOOK', 'NOTE'],
      [
        failed,
        'failed',
        bad,
        runner.app,
        expect.stringMatching(/^now$| ago$/),
        expect.stringMatching(/s$/),
        expect.any(String),
      ],
    ])
    // A step's error message cannot control the terminal.
    expect(people.stdout).toContain('no luck\\u001b[2J')
    expect(people.stdout).not.toContain('\u001b')
    expect(script.map(({ id }) => id)).toEqual([done, failed])
    expect(few.map(({ id }) => id)).toEqual([done])
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'nothing found\n' })
  })

  test('get and steps', async () => {
    const id = await ended(ok, 'succeeded', { n: 17 })
    const [people, [script], steps, stepLines] = await Promise.all([
      cli(['runs', 'get', id]),
      lines<Run>('runs', 'get', id),
      cli(['runs', 'steps', id]),
      lines<{ name: string }>('runs', 'steps', id),
    ])
    expect(script).toEqual(await api.run(id))
    for (const shown of [id, 'succeeded', ok, runner.app, '"n": 17', 'result', '"echo"']) {
      expect(people.stdout).toContain(shown)
    }
    expect(cells(steps.stdout).map(row => row.slice(0, 5))).toEqual([
      ['#', 'STEP', 'OP', 'STATUS', 'ATTEMPT'],
      ['0', 'first', 'StepRun', 'succeeded', '1'],
      ['1', 'second', 'StepRun', 'succeeded', '1'],
    ])
    expect(stepLines.map(({ name }) => name)).toEqual(['first', 'second'])
  })

  test('logs, and followed to the end of the run', async () => {
    const id = await ended(chatty)
    const stored = await api.logs(id)
    const [people, script, followed, after] = await Promise.all([
      cli(['runs', 'logs', id]),
      lines<RunLogLine>('runs', 'logs', id),
      lines<RunLogLine>('runs', 'logs', id, '-f'),
      lines<RunLogLine>('runs', 'logs', id, '--from', String(stored[0]?.seq)),
    ])
    expect(people.stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}warn {2}\[@root\] mind\\nthe gap n=1\n$/)
    expect(script).toEqual(stored)
    expect(followed).toEqual(stored)
    expect(after).toEqual([])
  })

  test('logs: more than the engine gives at a time', async () => {
    const name = unique('verbose')
    const log = (index: number) => ({
      level: 'info' as const,
      message: `line ${index}`,
      scope: '@root',
      index,
    })
    const all = Array.from({ length: 1100 }, (_, i) => log(i))
    await engine.runner({ workflows: { [name]: () => returned(1, all) } })
    const id = await ended(name)
    const [every, some] = await Promise.all([
      lines<RunLogLine>('runs', 'logs', id),
      lines<RunLogLine>('runs', 'logs', id, '--limit', '1001'),
    ])
    expect(every.map(({ message }) => message)).toEqual(all.map(({ message }) => message))
    expect(some).toEqual(every.slice(0, 1001))
  })

  test('watch: follows a run live, and exits by its end', async () => {
    const [good, failing, waiting] = [await ended(ok), await ended(bad, 'failed'), await start(held)]
    const cancelled: Promise<unknown>[] = []
    const [succeeded, failed, cut, frames] = await Promise.all([
      cli(['runs', 'watch', good]),
      cli(['runs', 'watch', failing]),
      cli(['runs', 'watch', waiting], {
        onOutput: stdout => {
          if (!/run {3}waiting/.test(stdout) || cancelled.length > 0) return
          cancelled.push(api.post(`/runs/${waiting}/cancel`))
        },
      }),
      lines<TimelineFrame>('runs', 'watch', good),
    ])
    expect(succeeded).toMatchObject({ code: 0, stderr: '' })
    expect(succeeded.stdout).toMatch(/step {2}succeeded {2}second\n/)
    expect(failed).toMatchObject({
      code: 1,
      stderr: `${failing} of ${runner.app}/${bad} failed: no luck\\u001b[2J (step_failed in step "breaks")\n`,
    })
    expect(cut).toMatchObject({ code: 1, stderr: `${waiting} of ${runner.app}/${held} cancelled\n` })
    expect(frames).toEqual((await api.stream(good)).messages.map(({ data }) => data))
  })

  test('watch without an id: every run of the namespace, until interrupted', async () => {
    const started: Promise<string>[] = []
    const { code, stderr, stdout } = await cli(['runs', 'watch', '--json'], {
      // The stream is live only, so runs are started until one of them appears.
      onOpen: () => setInterval(() => started.push(start(ok)), 100),
      onOutput: (_, process) => process.interrupt(),
    })
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
    expect(jsonLines<TimelineFrame>(stdout)[0]).toMatchObject({ kind: 'run_status' })
    await Promise.all(started)
  })

  test('pause, resume, cancel', async () => {
    const id = await start(held)
    await api.reaches(id, 'waiting')
    expect((await lines<RunSummary>('runs', 'pause', id))[0]).toMatchObject({ id, status: 'paused' })
    expect(await cli(['runs', 'resume', id])).toMatchObject({ code: 0, stdout: `${id} queued\n`, stderr: '' })
    expect(await cli(['runs', 'cancel', id])).toMatchObject({ code: 0, stdout: `${id} cancelled\n` })
    const again = await cli(['runs', 'cancel', id])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toMatch(/^perdure: .+ \(run_terminal, request req_\w+\)\n$/)
  })

  test('replay, with an input of every kind, and retry from a step', async () => {
    const id = await ended(ok, 'succeeded', 'original')
    const file = `${tempStoreFile()}.json`
    writeFileSync(file, '{"from": "a file"}')
    const replay = ['runs', 'replay', id, '--json', '--wait']
    const exits = await Promise.all([
      cli(replay),
      cli([...replay, '--input', 'null']),
      cli([...replay, '--input', `@${file}`]),
      cli([...replay, '--input', '-'], { stdin: '["stdin"]' }),
      cli(['runs', 'retry', id, '--step', 'second', '--json', '--wait']),
    ])
    const results = exits.map(({ code, stdout, stderr }) => {
      const [forked, run] = jsonLines<Run>(stdout) as [Run, Run]
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(run).toMatchObject({ id: forked.id, replayOf: id, status: 'succeeded' })
      return (run.result as { echo: unknown }).echo
    })
    expect(results).toEqual(['original', null, { from: 'a file' }, ['stdin'], 'original'])
    const failing = await cli(['runs', 'replay', await ended(bad, 'failed'), '--wait'])
    expect(failing).toMatchObject({ code: 1, stderr: expect.stringContaining('failed: no luck') })
  })

  test('bulk-replay: one call, or every match once', async () => {
    const name = unique('bulk')
    await engine.runner({ app: name, workflows: { [name]: flow([]), [`${name}-other`]: flow([]) } })
    for (let i = 0; i < 3; i++) await ended(name)
    await ended(`${name}-other`)
    const forks = async () => (await api.runs(`?app=${name}&limit=200`)).filter(({ replayOf }) => replayOf).length

    // No run has failed, and the command takes failed runs unless another status is given.
    expect(await lines('runs', 'bulk-replay', '--workflow', name)).toMatchObject([{ matched: 0 }])
    const dry = await cli(['runs', 'bulk-replay', '--workflow', name, '--status', 'any', '--dry-run'])
    expect(dry.stdout).toBe(`3 finished runs with workflow ${name}; nothing was replayed\n`)
    expect(await forks()).toBe(0)

    const once = await cli(['runs', 'bulk-replay', '--workflow', name, '--status', 'any'])
    expect(once).toMatchObject({
      code: 0,
      stdout: '3 matched, 3 replayed, 0 skipped (not finished), 0 failed\n',
      stderr: '',
    })
    for (const { id } of await api.runs(`?app=${name}`)) await api.succeeded(id)
    expect(await forks()).toBe(3)
    // The forks match too, except the forks that the command itself creates.
    const [all] = await lines('runs', 'bulk-replay', '--workflow', name, '--status', 'succeeded', '--all')
    expect(all).toEqual({ matched: 6, replayed: 6, skipped: 0, failed: 0, capped: false })
    expect(await forks()).toBe(9)
    expect(await cli(['runs', 'bulk-replay', '--all'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--workflow'),
    })
  })

  test('bulk-replay beyond the bound says how to go on', async () => {
    const small = await openEngine({ env: { ENGINE_BULK_REPLAY_LIMIT: '1' } })
    const { workflows } = await small.runner({ workflows: { [unique('w')]: flow([]) } })
    const [name] = Object.keys(workflows) as [string]
    for (let i = 0; i < 2; i++) await small.api.succeeded((await small.api.send({ name })).runId)
    const exit = await cli(['runs', 'bulk-replay', '--workflow', name, '--status', 'succeeded', '--url', small.url])
    expect(exit).toMatchObject({
      code: 0,
      stdout: '2 matched, 1 replayed, 0 skipped (not finished), 0 failed\n',
    })
    expect(exit.stderr).toContain('--all')
  })
})

describe('events', () => {
  test('send: what it did, and --wait for the result', async () => {
    const people = await cli(['events', 'send', ok, '--data', '{"n": 1}'])
    expect(people).toMatchObject({ code: 0, stderr: '' })
    expect(people.stdout).toMatch(new RegExp(`^evt_\\w+\\n {2}${runner.app}/${ok} {2}run_\\w+\\n$`))

    const args = ['events', 'send', ok, '--app', runner.app, '--runner', String(runner.runner)]
    const dedupe = ['--dedupe-id', unique('once')]
    const waited = await cli([...args, ...dedupe, '--data', '-', '--wait', '--json'], { stdin: '[1]' })
    const [sent, run] = jsonLines<{ runId: string; status: string }>(waited.stdout)
    expect(waited.code).toBe(0)
    expect(run).toMatchObject({ id: sent?.runId, status: 'succeeded', input: [1], runner: runner.runner })

    const repeated = await cli([...args, ...dedupe])
    expect(repeated.stdout).toMatch(
      /^dropped: an event with this dedupe id came before: evt_\w+, which started run_\w+\n$/,
    )

    const [failing, unheard] = await Promise.all([
      cli(['events', 'send', bad, '--wait']),
      cli(['events', 'send', unique('unheard'), '--wait']),
    ])
    expect(failing).toMatchObject({ code: 1, stderr: expect.stringContaining('no luck') })
    expect(unheard).toMatchObject({ code: 1, stderr: 'there is no run to wait for\n' })
    expect(unheard.stdout).toMatch(/^evt_\w+ {2}nothing matched\n$/)
  })

  test('send later, list what arrives later, and delete it', async () => {
    const later = await cli(['events', 'send', unique('later'), '--delay', '2h'])
    expect(later.stdout).toMatch(/^evt_\w+ {2}arrives \S+ \(in [12]h\)/)
    const [id = ''] = later.stdout.split(' ')
    expect((await lines<{ id: string }>('events', 'scheduled')).map(event => event.id)).toContain(id)
    expect((await cli(['events', 'unschedule', id])).stdout).toBe(`${id} will not arrive\n`)
    expect(await cli(['events', 'unschedule', id])).toMatchObject({ code: 1 })
    expect((await cli(['events', 'unschedule-all', '--attribute', 'a:b', '--yes'])).stdout).toMatch(/^0 events will/)
  })

  test('schedules: put, list, pause, resume, fire and delete', async () => {
    const [id, name] = [unique('poll'), unique('polled')]
    const put = await cli(['schedules', 'put', id, name, '--every', '30m', '--data', '{"n":1}'])
    expect(put.stdout).toMatch(new RegExp(`^${id}\n  next  \\S+ \\(in \\d+m\\)`))
    const listed = await lines<{ id: string }>('schedules', 'list', '--source', 'api')
    expect(listed.map(schedule => schedule.id)).toContain(id)
    expect((await cli(['schedules', 'pause', id])).stdout).toBe(`${id} is paused\n`)
    expect((await cli(['schedules', 'fire', id])).stdout).toMatch(/^evt_\w+ {2}no run was started\n$/)
    expect((await cli(['schedules', 'resume', id])).code).toBe(0)
    expect((await cli(['schedules', 'delete', id])).stdout).toBe(`${id} is deleted\n`)
  })

  test('list and get', async () => {
    const name = unique('named')
    const { eventId } = await api.send({ name, app: 'somewhere', data: { deep: [1] } })
    const [people, script, got, [value]] = await Promise.all([
      cli(['events', 'list', '--name', name]),
      lines('events', 'list', '--name', name, '--app', 'somewhere'),
      cli(['events', 'get', eventId]),
      lines('events', 'get', eventId),
    ])
    expect(cells(people.stdout)).toEqual([
      ['ID', 'NAME', 'APP', 'SOURCE', 'RECEIVED', 'EFFECT', 'DATA'],
      [eventId, name, 'somewhere', 'api', expect.any(String), 'no effect', '{"deep":[1]}'],
    ])
    expect(script).toEqual([await api.event(eventId)])
    expect(got.stdout).toContain('"deep": [')
    expect(value).toEqual(await api.event(eventId))
  })

  test('tail: events as they come, until interrupted', async () => {
    const name = unique('tailed')
    const { code, stdout, stderr } = await cli(['events', 'tail'], {
      onOpen: () => setInterval(() => void api.send({ name }), 100),
      onOutput: (stdout, process) => stdout.includes(name) && process.interrupt(),
    })
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^[\\d:.]+ {2}evt_\\w+ {2}${name} {2}no effect$`, 'm'))
  })
})

test('apps, runners, workflows, audit', async () => {
  const id = await ended(ok)
  await cli(['runs', 'replay', id])
  const nouns = [['apps'], ['runners', '--app', runner.app], ['workflows', '--app', runner.app], ['audit', '--run', id]]
  const [people, scripts] = await Promise.all([
    Promise.all(nouns.map(args => cli(args))),
    Promise.all(nouns.map(args => lines<Record<string, unknown>>(...args))),
  ])
  const rows = people.map(({ stdout }) => cells(stdout))
  expect(rows.map(([titles]) => titles?.slice(0, 3))).toEqual([
    ['APP', 'FIRST SEEN'],
    ['RUNNER', 'APP', 'LIVE'],
    ['WORKFLOW', 'APP', 'TRIGGERS'],
    ['WHEN', 'ACTION', 'RUN'],
  ])
  expect(rows[0]).toContainEqual([runner.app, expect.any(String)])
  expect(rows[1]?.[1]?.slice(0, 3)).toEqual([runner.runner, runner.app, 'live'])
  expect(rows[2]?.map(([name]) => name)).toEqual(expect.arrayContaining([ok, bad, held, chatty]))
  expect(rows[3]?.[1]?.slice(1, 3)).toEqual(['replay', id])
  const [apps, runners, workflows, audit] = scripts
  expect(apps).toContainEqual({ name: runner.app, createdAt: expect.any(String) })
  expect(runners).toEqual([expect.objectContaining({ runnerId: runner.runner, live: true })])
  expect(workflows?.map(({ name }) => name)).toEqual(expect.arrayContaining([ok, bad]))
  expect(audit).toEqual([expect.objectContaining({ action: 'replay', runId: id, newRunId: expect.any(String) })])
})

test('no output lets data drive the terminal, with --json or without', async () => {
  const hostile = '\u009b2J\u007f\u001b]0;owned\u0007\u202e'
  const id = await ended(ok, 'succeeded', { text: hostile })
  const outputs = await Promise.all([
    cli(['runs', 'get', id, '--json']),
    cli(['runs', 'get', id]),
    cli(['runs', 'watch', id, '--json']),
    cli(['events', 'list', '--limit', '5', '--json']),
    cli(['runs', 'get', `run_${hostile}`]),
  ])
  for (const { stdout, stderr } of outputs) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  }
  expect(JSON.parse(outputs[0]?.stdout ?? '')).toMatchObject({ input: { text: hostile } })
})
