// The commands that create run tokens (docs/security.md#run-tokens).

import type { RunToken, SendEventReply, StartedRun } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { CommandHost, returned, scenario } from '../../kit/index.ts'

const { api, engine, workflow } = await scenario({ realTime: true })
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: engine.url })

test('a token is made of a run, and beside a run that a command starts', async () => {
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
