// The commands that read and follow runs, on an engine in this process: what they print, and their exit codes.

import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  returned,
  scenario,
  tempStoreFile,
  unique,
  wait,
} from '../../../../../test/kit/index.ts'
import { ran } from '../../ran.testkit.ts'

const { api, url, workflow } = await scenario({ realTime: true })

const failing = await workflow(
  () => {
    const error = {
      message: 'no luck\nat all',
      stack: 'Error: no luck\nat all\n    at pay (/app/pay.ts:7:9)\n    at /app/b.ts',
      code: 'card_declined',
      fields: { status: 402, token: 'secret' },
      cause: { name: 'TypeError', message: 'fetch failed', cause: { message: 'refused', code: 'ECONNREFUSED' } },
    }
    return discovered([opcode('StepRun', 'breaks', { error, retriable: false })])
  },
  { app: 'a-rather-long-name-of-an-app' },
)
const waiting = await workflow(flow([wait('gate', unique('never'))]))

async function failed(): Promise<string> {
  const { runId } = await api.send({ name: failing.name })
  await api.reaches(runId, 'failed')
  return runId
}

async function held(): Promise<string> {
  const { runId } = await api.send({ name: waiting.name })
  await api.reaches(runId, 'waiting')
  return runId
}

const cli = (args: string[], options?: { columns: number }) => ran([...args, '--url', url], options)

test('get: a run in full, with the address of its page in the console', async () => {
  const id = await held()
  const { stdout } = await cli(['runs', 'get', id])
  expect(stdout).toMatch(new RegExp(`^run +${id}\nstatus +waiting\n`))
  expect(stdout).toMatch(new RegExp(`\nconsole +${url}/console/go/${id}\n`))
})

test('why: the sentence, and the facts behind it', async () => {
  const id = await held()
  const { code, stdout } = await cli(['runs', 'why', id])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Step "gate" waits for event "never.*", until .+ at the latest\.\n\n/)
  expect(stdout).toContain(`run         ${id}\nstatus      waiting since 20`)
  expect(stdout).toMatch(/open steps {2}1\nrunners {5}1 live, 0 stale\n/)
  const explained = JSON.parse((await cli(['runs', 'why', id, '--json'])).stdout)
  expect(explained).toMatchObject({ runId: id, status: 'waiting', waitingFor: { kind: 'event' } })
})

test('result: the result of a run, its error, or exit code 4 while it goes on', async () => {
  const { name } = await workflow(({ event }) => returned(event.data))
  const { runId } = (await api.post('/events', { name, data: { a: 1 } })).json as { runId: string }
  expect(await cli(['runs', 'result', runId, '--wait'])).toMatchObject({ code: 0, stdout: '{\n  "a": 1\n}\n' })
  expect(JSON.parse((await cli(['runs', 'result', runId, '--json'])).stdout)).toEqual({
    runId,
    status: 'succeeded',
    result: { a: 1 },
  })
  expect(await cli(['runs', 'result', await failed()])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('failed: no luck'),
  })
  for (const more of [[], ['--wait', '--timeout', '50ms']])
    expect(await cli(['runs', 'result', await held(), ...more])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('is still waiting: Step "gate"'),
    })
})

test('send-many: a list or lines, with the refused ones named', async () => {
  const file = `${tempStoreFile()}.jsonl`
  writeFileSync(file, '{"name":"a"}\n\n{"data":1}\n')
  expect(await cli(['events', 'send-many', `@${file}`])).toMatchObject({
    code: 1,
    stdout: '1 sent, 1 refused\n',
    stderr: 'event 2: name is required (invalid_request)\n',
  })
  const { stdout } = await cli(['events', 'send-many', '[{"name":"a"},{"name":"b"}]', '--json'])
  expect(
    stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).eventId),
  ).toEqual([expect.any(String), expect.any(String)])
  expect(await cli(['events', 'send-many', '{"name":}'])).toMatchObject({ code: 2 })
})

test('get, steps: the error with code, step, fields, causes and stack', async () => {
  const runId = await failed()
  const { stdout } = await cli(['runs', 'get', runId])
  expect(stdout).toMatch(/\nerror {5}no luck\\nat all \(card_declined in step "breaks"\)\n/)
  expect(stdout).toMatch(/\nstack\n {2}at pay \(\/app\/pay\.ts:7:9\)\n {2}at \/app\/b\.ts\n/)
  const detail = [
    'status=402 token=[REDACTED]',
    'caused by TypeError: fetch failed',
    'caused by Error: refused (ECONNREFUSED)',
  ]
  for (const text of [stdout, (await cli(['runs', 'steps', runId, '--step', 'breaks'])).stdout])
    expect(text).toContain(`\ndetail\n${detail.map(line => `  ${line}\n`).join('')}`)
})

test('get, why, steps: how many attempts a step has that is tried again', async () => {
  const error = { message: 'no luck' }
  const retrying = await workflow(() => discovered([opcode('StepRun', 'pay', { error, retryAfterMs: 3_600_000 })]))
  const { runId } = await api.send({ name: retrying.name })
  await api.reaches(runId, 'waiting')
  const get = async (...args: string[]) => (await cli(['runs', ...args])).stdout
  expect(await get('get', runId)).toMatch(/\nwaits for {2,}retry pay \(attempt 1 of 5\) until 20/)
  expect(await get('why', runId)).toMatch(/^Step "pay" failed \(attempt 1 of 5\) and is tried again/)
  expect(await get('steps', runId)).toMatch(/retrying +1 of 5 /)
  expect(await get('steps', runId, '--step', 'pay')).toMatch(/\nattempt +1 of 5\n/)
})

test('steps: the names that retry takes', async () => {
  const repeats = await workflow(({ pass }) =>
    pass === 1
      ? {
          status: 206,
          body: { opcodes: ['poll', 'poll:1'].map(id => opcode('StepRun', id, { name: 'poll', data: 1 })) },
        }
      : returned(1),
  )
  const { runId } = await api.send({ name: repeats.name })
  await api.succeeded(runId)
  const { stdout } = await cli(['runs', 'steps', runId])
  expect(stdout.split('\n').map(line => line.split(/ +/)[1])).toEqual(['STEP', 'poll', 'poll:1', undefined])
  expect((await cli(['runs', 'retry', runId, '--step', 'poll:1', '--wait'])).code).toBe(0)
})

test('watch: workflow and error; of every run, too', async () => {
  const id = await failed()
  const { code, stdout, stderr } = await cli(['runs', 'watch', id])
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`^${id}  ${failing.app}/${failing.name}  created 20`))
  expect(stderr).toBe(
    `${id} of ${failing.app}/${failing.name} failed: no luck\\nat all (card_declined in step "breaks")\n`,
  )
})

test('a wait that takes longer than --timeout ends with exit code 4, and says why', async () => {
  const id = await held()
  const watched = await cli(['runs', 'watch', id, '--timeout', '50ms'])
  expect(watched).toMatchObject({ code: 4, stderr: expect.stringMatching(`^${id} is still waiting: Step "gate"`) })
  const sent = await cli(['events', 'send', waiting.name, '--wait', '--timeout', '50ms', '--json'])
  expect(sent).toMatchObject({ code: 4, stderr: expect.stringMatching(/^run_\w+ is still /) })
  expect(
    sent.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).workflow),
  ).toEqual([undefined, waiting.name])
  expect((await cli(['runs', 'watch', await failed(), '--timeout', '1h'])).code).toBe(1)
})

test('the beginning of an id is enough, unless several begin so', async () => {
  const [one, two] = [await held(), await held()]
  const { runId } = await api.send({ name: waiting.name })
  const begins = one.slice(0, [...one].findIndex((char, i) => char !== two[i]) + 6)
  expect((await cli(['runs', 'pause', begins])).stdout).toBe(`${one} paused\n`)
  expect((await cli(['runs', 'list', '--replay-of', begins])).code).toBe(0)
  const several = await cli(['runs', 'cancel', 'run_0'])
  expect(several).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/several ids begin with run_0: (run_\w+, ){3}/),
  })
  expect((await cli(['runs', 'get', 'run_nothing'])).stderr).toMatch(/not_found/)
  const { eventId } = await api.run(runId)
  expect((await cli(['events', 'get', String(eventId).slice(0, 24)])).stdout).toContain(`event      ${eventId}\n`)
})

test('list: 80 columns have id, status, workflow, age and error; more have the rest', async () => {
  await failed()
  const list = async (columns: number) =>
    (await cli(['runs', 'list', '--status', 'failed', '--limit', '1'], { columns })).stdout.trimEnd().split('\n')
  const [titles, row] = await list(80)
  expect(titles?.split(/ +/)).toEqual(['ID', 'STATUS', 'WORKFLOW', 'CREATED', 'TOOK', 'NOTE'])
  expect(row).toMatch(/^run_\w{26} {2}failed {2}workflow\S* {2}(now|\d+s ago) +\S+ +no luck$/)
  expect((await list(140))[0]?.split(/ +/)).toEqual(['ID', 'STATUS', 'WORKFLOW', 'APP', 'CREATED', 'TOOK', 'NOTE'])
})
