// `perdure runs streams` and `perdure runs stream` against the real engine.

import { expect, test } from 'vitest'
import { CommandHost, linesOf, openEngine, until } from '../../kit/index.ts'
import { openStreamWriter } from '../../kit/runner/stream-writer.ts'
import { TcpProxy } from '../../kit/servers/tcp-proxy.ts'

const { api, url } = await openEngine()
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: url })
const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

test('a stream is listed, and printed as chunks, text and messages', async () => {
  const { runId, append, failAttempt, end } = await openStreamWriter(url, api)
  expect((await cli(['runs', 'streams', runId])).stderr).toContain('no step has written to a stream')
  await append(['Hel', 'lo'])
  await failAttempt()
  await append(['Bet', { x: 1 }, 'ter'])
  expect(await lines('runs', 'streams', runId)).toMatchObject([{ name: 'answer', chunks: 3, ended: false }])
  expect((await cli(['runs', 'stream', runId, 'answer'])).stdout.split('\n')).toEqual([
    '0  ask  "Hel"',
    '1  ask  "lo"',
    '2  ask  chunks of ask from 0 on are withdrawn: attempt 1 failed',
    '3  ask#2  "Bet"',
    '4  ask#2  {"x":1}',
    '5  ask#2  "ter"',
    '',
  ])
  expect((await cli(['runs', 'stream', runId, 'answer', '--text'])).stdout).toBe('Better')
  await end()
  expect((await lines('runs', 'stream', runId, 'answer')).at(-1)).toEqual({ n: 6, end: 'succeeded' })
  expect(await cli(['runs', 'stream', runId, 'nothing'])).toMatchObject({ code: 1 })
})

test('a stream is followed to the end of its run, which decides the exit code', async () => {
  const { runId, append, failAttempt, end } = await openStreamWriter(url, api)
  await append(['Hel'])
  const follow = ['runs', 'stream', runId, 'answer', '--follow']
  const text = cli([...follow, '--text'])
  const json = cli([...follow, '--json'])
  await failAttempt()
  await append(['Better'])
  await end()
  expect(await text).toMatchObject({ code: 0, stdout: 'HelBetter' })
  expect((await text).stderr).toContain('[chunks of ask from 0 on are withdrawn: attempt 1 failed]')
  const messages = (await json).stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { n: number })
  expect(messages.map(({ n }) => n)).toEqual([0, 1, 2, 3])
})

test('a stream that is followed goes on behind a connection that was cut, and repeats nothing', async () => {
  const { runId, append, end } = await openStreamWriter(url, api)
  const proxy = await TcpProxy.open(url, 80)
  await append(['a', 'b'])
  const followed = commands.run(['runs', 'stream', runId, 'answer', '--follow', '--text'], {
    ENGINE_URL: proxy.urlOf(url),
  })
  const isOpen = async () => /^perdure_streams_open\{kind="topics"\} 1/m.test((await api.get('/metrics')).text)
  await until(isOpen, { what: 'the stream' })
  proxy.down()
  await append(['c'])
  proxy.up()
  await end()
  expect(await followed).toMatchObject({ code: 0, stdout: 'abc' })
})

test('following ends at its time with what the run waits for, and options that exclude each other are refused', async () => {
  const { runId, append, end } = await openStreamWriter(url, api)
  await append(['a'])
  const stream = ['runs', 'stream', runId, 'answer']
  const late = await cli([...stream, '--follow', '--timeout', '300ms'])
  expect(late).toMatchObject({ code: 4, stdout: '0  ask  "a"\n' })
  expect(late.stderr).toContain(`${runId} is still running`)
  expect((await cli([...stream, '--timeout', '1s'])).stderr).toContain('--timeout needs --follow')
  expect((await cli([...stream, '--text', '--json'])).code).toBe(2)
  await end()
})
