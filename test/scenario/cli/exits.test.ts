// How the `perdure` command ends: its exit codes, its output streams, and that it always ends.

import { describe, expect, test } from 'vitest'
import { CommandHost, flow, openEngine, perdure, scenario, unique, wait } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const held = unique('held')
await engine.runner({ workflows: { [held]: flow([wait('gate', unique('go'))]) } })

const commands = new CommandHost()
const ENV = { ENGINE_URL: engine.url }
const cli = (args: readonly string[], env: Record<string, string> = {}) => commands.run(args, { ...ENV, ...env })

/** Runs command lines: the first in its own process, which must end, and the others in one. */
const all = ([first = [], ...others]: string[][]) =>
  Promise.all([perdure(first, { env: ENV }), ...others.map(args => cli(args))])

describe('how it ends', () => {
  test('2: bad usage, reported on stderr alone', async () => {
    const wrong: [string[], string][] = [
      [['fly'], "unknown command 'fly'"],
      [['runs', 'list', '--limit', '0'], 'whole number'],
      [['events', 'send', 'x', '--data', '{'], '--data is not valid JSON'],
      [['events', 'send', 'x', '--data', '@/no/such/file'], '--data cannot be read'],
      [['apps', '--url', 'nonsense'], 'is not an http or https URL: nonsense'],
    ]
    const exits = await all(wrong.map(([args]) => args))
    for (const [i, [args, says]] of wrong.entries()) {
      expect(exits[i], args.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(exits[i]?.stderr, args.join(' ')).toContain(says)
    }
  })

  test('3: no engine, named', async () => {
    const unreachable = [
      ['runs', 'list', '--json'],
      ['runs', 'watch', 'run_1'],
      ['events', 'send', 'x'],
    ]
    const gone = await openEngine()
    await gone.stop()
    const exits = await all(unreachable.map(args => [...args, '--url', gone.url]))
    for (const exit of exits) {
      expect(exit).toMatchObject({ code: 3, stdout: '' })
      expect(exit.stderr).toMatch(
        /^perdure: cannot reach the engine: connect ECONNREFUSED \S+\. Is the engine running\? .+ \(http:.+\)\n$/,
      )
    }
  })

  test('1: a refusal by the engine', async () => {
    const refused = [
      ['runs', 'get'],
      ['runs', 'steps'],
      ['runs', 'logs'],
      ['runs', 'watch'],
      ['events', 'get'],
    ]
    const exits = await all(refused.map(args => [...args, 'nobody', '--json']))
    for (const exit of exits) {
      expect(exit).toMatchObject({ code: 1, stdout: '' })
      expect(exit.stderr).toMatch(/^perdure: .+ \(not_found, request req_\w+\)\n$/)
    }
  })

  test('a missing key is reported; it comes from the flag or the environment', async () => {
    const key = 'a-read-key-for-the-command-line'
    const keys = JSON.stringify([{ label: 'cli', namespace: 'default', kind: 'read', key }])
    const guarded = await openEngine({ env: { ENGINE_API_KEYS: keys } })
    const args = ['apps', '--url', guarded.url]
    const [without, flag, env] = await Promise.all([
      cli(args),
      cli([...args, '--api-key', key]),
      cli(args, { ENGINE_API_KEY: key }),
    ])
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('(unauthorized') })
    for (const exit of [flag, env]) expect(exit).toMatchObject({ code: 0, stderr: 'nothing found\n' })
  })

  test('without a message, when the output is closed', async () => {
    const { runId: id } = await api.send({ name: held })
    await api.reaches(id, 'waiting')
    const { code, stderr } = await perdure(['runs', 'watch', id], {
      env: ENV,
      onOutput: (_, process) => {
        process.stopReading()
        void api.post(`/runs/${id}/cancel`)
      },
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('0: help and version', async () => {
    const [none, flag, serve, version] = await all([[], ['--help'], ['help', 'serve'], ['--version']])
    for (const exit of [none, flag, serve, version]) expect(exit).toMatchObject({ code: 0, stderr: '' })
    expect(none?.stdout).toBe(flag?.stdout)
    for (const says of ['serve', 'runs', 'events', 'keys', 'Exit codes', 'Examples']) {
      expect(flag?.stdout).toContain(says)
    }
    expect(serve?.stdout).toContain('--drain-timeout')
    expect(version?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
