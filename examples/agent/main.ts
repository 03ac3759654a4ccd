// `npm run example -- agent`: four tickets: a question, a refund that a person allows, one refused, an endless loop.

import assert from 'node:assert/strict'
import { runExample, startRun } from '../shared/example.ts'
import { followRun, heading, note } from '../shared/show.ts'

const runner = new URL('./runner.ts', import.meta.url)

await runExample({ runner }, async ({ client }) => {
  let tickets = 0
  /** Opens a ticket and follows its run. `judge` is the verdict of the person who approves dangerous tools. */
  const openTicket = async (title: string, text: string, judge?: { by: string; allowed: boolean }) => {
    heading(title)
    const ticketId = `T-${++tickets}`
    const runId = await startRun(client, 'ticket/opened', { ticketId, text })
    for await (const frame of followRun(client, runId)) {
      if (frame.kind !== 'step_status' || frame.status !== 'waiting') continue
      const turn = Number(/^turn (\d+): approval$/.exec(frame.name)?.[1])
      const body = { name: 'agent/judged', data: { ticketId, turn, ...judge } }
      note(`POST /events ${JSON.stringify(body)}`)
      await client.sendEvent({ body })
    }
    const { result } = await client.getRun({ id: runId })
    note(JSON.stringify(result))
    return result as { status: string; answer?: string; turns: number }
  }

  const answered = await openTicket('A question', 'Where is my order 17?')
  assert.equal(answered.answer, 'Here is what we know. Order 17: 1 tent, 240.00, delivered.')

  const refunded = await openTicket('A refund, allowed', 'I want my money back for 18.', {
    by: 'ada',
    allowed: true,
  })
  assert.equal(refunded.answer, 'Your money for order 18 is on its way.')

  const refused = await openTicket('A refund, refused', 'Money back! Order 19, at once!', {
    by: 'ada',
    allowed: false,
  })
  assert.equal(refused.answer, 'We cannot refund order 19.')

  const looping = await openTicket('A model that loops', 'What is the meaning of 42?')
  assert.deepEqual(looping, { status: 'out-of-turns', turns: 6 })
})
