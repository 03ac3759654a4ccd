// `npm run example -- onboarding`: two weeks of mails in seconds. Ada gets all of them, Bob unsubscribes, Cleo upgrades.

import assert from 'node:assert/strict'
import { numberSetting, runExample, startRun } from '../shared/example.ts'
import { followRun, heading, note, watchRun } from '../shared/show.ts'

const runner = new URL('./runner.ts', import.meta.url)
const dayMs = numberSetting('DAY_MS', 150)

await runExample({ runner, runnerEnv: { DAY_MS: String(dayMs) } }, async ({ client }) => {
  const signUp = (userId: string, name: string) => startRun(client, 'user/signed-up', { userId, name })
  const ada = await signUp('u1', 'Ada')
  const bob = await signUp('u2', 'Bob')
  const cleo = await signUp('u3', 'Cleo')

  heading('Ada signs up a second time')
  const again = { name: 'user/signed-up', data: { userId: 'u1', name: 'Ada' } }
  const { deduped } = await client.sendEvent({ body: again })
  note(`POST /events -> ${JSON.stringify({ deduped })}`)
  assert.equal(deduped, true)

  /** Follows a run, sends the event after the first mail, and checks that the run is cancelled. */
  const cancelWith = async (runId: string, event: string, userId: string) => {
    let isSent = false
    for await (const frame of followRun(client, runId)) {
      if (isSent || frame.kind !== 'step_status' || frame.name !== 'mail of day 0') continue
      isSent = true
      note(`POST /events {"name":"${event}","data":{"userId":"${userId}"}}`)
      await client.sendEvent({ body: { name: event, data: { userId } } })
    }
    assert.equal((await client.getRun({ id: runId })).status, 'cancelled')
    const { items: steps } = await client.listRunSteps({ id: runId })
    assert.ok(!steps.some(({ name }) => name === 'mail of day 14'))
  }
  heading('Bob unsubscribes')
  await cancelWith(bob, 'user/unsubscribed', 'u2')
  heading('Cleo upgrades')
  await cancelWith(cleo, 'user/upgraded', 'u3')

  heading(`Ada gets all mails (a day has ${dayMs} ms here)`)
  const { status, result } = await watchRun(client, ada)
  assert.equal(status, 'succeeded')
  assert.deepEqual(result, { mails: 5 })
})
