// `npm run example -- approval`: one expense decided at once, one after a reminder and an escalation, one by nobody.

import assert from 'node:assert/strict'
import { runExample, startRun } from '../shared/example.ts'
import { followRun, heading, note } from '../shared/show.ts'

interface Decision {
  expenseId: string
  by: string
  approved: boolean
}

const runner = new URL('./runner.ts', import.meta.url)
const runnerEnv = {
  REMIND_AFTER: process.env.REMIND_AFTER ?? '300ms',
  ESCALATE_AFTER: process.env.ESCALATE_AFTER ?? '700ms',
}

await runExample({ runner, runnerEnv }, async ({ client, engine }) => {
  /** Sends a decision, as the button in the mail would. */
  const decide = async (decision: Decision) => {
    const body = JSON.stringify({ name: 'expense/decided', data: decision })
    note(`curl ${engine.url}/events -H 'content-type: application/json' -d '${body}'`)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${engine.url}/events`, { method: 'POST', headers, body })
    const { woke } = (await answer.json()) as { woke: number }
    note(`woke ${woke}`)
  }
  const submit = (expenseId: string, amount: number) =>
    startRun(client, 'expense/submitted', { expenseId, amount, approvers: ['ada', 'grace'] })
  /** Follows a run until it ends, and sends a decision when it waits in a step that `decisions` names. */
  const follow = async (runId: string, decisions: Record<string, Decision>) => {
    for await (const frame of followRun(client, runId)) {
      if (frame.kind !== 'step_status' || frame.status !== 'waiting') continue
      const decision = decisions[frame.name]
      if (decision) await decide(decision)
    }
    return (await client.getRun({ id: runId })).result
  }
  const forgotten = await submit('E-3', 20)

  heading('Decided at once')
  const yes = { expenseId: 'E-1', by: 'ada', approved: true }
  const first = await follow(await submit('E-1', 80), { 'decision of ada': yes })
  assert.deepEqual(first, { status: 'approved', by: 'ada' })

  heading('Ada is away: reminded, escalated, and Grace says no')
  const second = await follow(await submit('E-2', 900), {
    'decision of ada': yes, // about another expense: wakes no run
    'decision of grace': { expenseId: 'E-2', by: 'grace', approved: false },
  })
  assert.deepEqual(second, { status: 'rejected', by: 'grace' })

  heading('Submitted first, and never decided')
  assert.deepEqual(await follow(forgotten, {}), { status: 'expired' })

  heading('An invalid expense')
  const invalid = await submit('E-4', -5)
  await follow(invalid, {})
  const { status, error } = await client.getRun({ id: invalid })
  note(error?.message ?? '')
  assert.equal(status, 'failed')
  assert.match(error?.message ?? '', /data\.amount/)
})
