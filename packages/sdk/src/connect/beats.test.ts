// A runner in a separate process whose event loop is blocked for a second.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { open, registered, resultOf } from './runner.testkit.ts'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))
const RUNNER = `
  import { createWorkflow } from '${dist}/index.js'
  import { connect } from '${dist}/connect.js'
  const block = ms => { for (const until = performance.now() + ms; performance.now() < until; ); }
  const work = createWorkflow({ name: 'work' }, async ({ step }) => {
    await step.run('hash ü', async () => {
      await null
      block(800)
    })
  })
  connect({ app: 'shop', workflows: [work], apiKey: 'pdk_key', engineUrl: process.argv[1], log: () => {} })`

test('beats from another thread while the event loop is blocked, and at no other time', async () => {
  const engine = await open({ features: ['beats'], heartbeatMs: 200, checkpoints: false })
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', RUNNER, engine.url], { stdio: 'inherit' })
  onTestFinished(() => void runner.kill('SIGKILL'))
  const connection = await registered(engine)
  const instance = connection.of('hello')[0]?.payload.instance
  await until(() => connection.of('heartbeat').length > 3, { what: 'heartbeats of the socket' })
  expect(engine.beats).toEqual([])
  connection.invoke('i1', 'work')
  await resultOf(connection, 'i1')
  expect(engine.beats.length).toBeGreaterThan(2)
  expect(new Set(engine.beats)).toEqual(new Set([`Bearer pdk_key ${instance} hash%20%C3%BC`]))
  const { length } = engine.beats
  await until(() => connection.of('heartbeat').length > 6, { what: 'further heartbeats of the socket' })
  expect(engine.beats.length).toBeLessThanOrEqual(length + 1)
})
