// Runs the workflow on the real engine, inside this test: three days pass in milliseconds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEngine } from 'perdure/testing'
import { welcome } from './workflows.ts'

test('a user who confirms is welcome', async () => {
  await using engine = await testEngine([welcome])
  const run = await engine.start(welcome, { id: 'u1', name: 'Ada' })
  await run.parkedAt('confirmation')
  await engine.send('user/confirmed', { id: 'u1' })
  assert.deepEqual(await run.result(), { greeting: 'Hello, Ada!', status: 'welcome' })
})

test('a user who does not confirm within three days is forgotten', async () => {
  await using engine = await testEngine([welcome])
  const run = await engine.start(welcome, { id: 'u2', name: 'Grace' })
  await run.parkedAt('confirmation')
  await engine.advance('3d')
  assert.deepEqual(await run.result(), { greeting: 'Hello, Grace!', status: 'forgotten' })
})
