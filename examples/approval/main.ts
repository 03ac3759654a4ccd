// `npm run example -- approval`: one expense decided at once, one after a reminder and an escalation, one by nobody.

import assert from 'node:assert/strict'
import { runExample, startRun } from '../shared/example.ts'
import { followRun, heading, note } from '../shared/show.ts'

const runner = new URL('./runner.ts', import.meta.url)
const runnerEnv = {
  REMIND_AFTER: process.env.REMIND_AFTER ?? '300ms',
  ESCALATE_AFTER: process.env.ESCALATE_AFTER ?? '1s',
}

await runExample({ runner, runnerEnv }, async ({ client }) => {
  /** Answers the mail of a step, as its button would. The demo has no mailbox: the step's result has the link. */
  const decide = async (runId: string, mailed: string, approved: boolean) => {
    const { items } = await client.listRunSteps({ id: runId })
    const step = items.find(({ name }) => name === mailed)
    assert(step, `the run has the step "${mailed}"`)
    const { link } = step.data as { link: string }
    const body = JSON.stringify({ approved })
    note(`curl '${link.slice(0, 60)}…' -H 'content-type: application/json' -d '${body}'`)
    const answer = await fetch(link, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    note(`${answer.status} ${await answer.text()}`)
  }
  const submit = (expenseId: string, amount: number) =>
    startRun(client, 'expense/submitted', { expenseId, amount, approvers: ['ada', 'grace'] })
  /** Follows a run until it ends, and answers a mail when a step in `decisions` has the status next to it. */
  const follow = async (runId: string, decisions: Record<string, boolean> = {}) => {
    for await (const frame of followRun(client, runId)) {
      if (frame.kind !== 'step_status' || !['waiting', 'succeeded'].includes(frame.status)) continue
      const approved = decisions[`${frame.name} ${frame.status}`]
      if (approved !== undefined) await decide(runId, frame.name.replace('decision of', 'ask'), approved)
    }
    return (await client.getRun({ id: runId })).result
  }
  const forgotten = await submit('E-3', 20)

  heading('Decided at once')
  const submitted = await submit('E-1', 80)
  const first = await follow(submitted, { 'decision of ada waiting': true })
  assert.deepEqual(first, { status: 'approved', by: 'ada' })

  heading('A link works once')
  await decide(submitted, 'ask ada', false)

  heading('Ada is away: reminded, escalated, and Grace says no before the run waits for her')
  const second = await follow(await submit('E-2', 900), { 'ask grace succeeded': false })
  assert.deepEqual(second, { status: 'rejected', by: 'grace' })

  heading('Submitted first, and never decided')
  assert.deepEqual(await follow(forgotten), { status: 'expired' })

  heading('An invalid expense')
  const invalid = await submit('E-4', -5)
  await follow(invalid)
  const { status, error } = await client.getRun({ id: invalid })
  note(error?.message ?? '')
  assert.equal(status, 'failed')
  assert.match(error?.message ?? '', /data\.amount/)
})
