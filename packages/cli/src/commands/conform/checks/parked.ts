// Checks of steps that the engine settles: sleeps, waits, children, emits, webhooks, and races between them.

import { WAIT_ORDER_FEATURE } from '@perdure/protocol'
import { member, reports, returns, same } from '../runner/expectations.ts'
import { type Check, checksOf } from './check.ts'

/** A time that is long past: the engine wakes the run at once. */
const AT_MS = 1_700_000_000_000
const NOTHING = { data: null }
const APPROVAL = {
  id: 'evt_1',
  name: 'conform.approved',
  data: { id: 7, by: 'Ada' },
  receivedAt: '2026-01-31T12:00:00.000Z',
}

const signal = { op: 'WaitForEvent', step: 'signal', fields: { eventName: 'conform.signal', timeoutMs: 60_000 } }
const limit = { op: 'Sleep', step: 'limit', fields: { sleepMs: 60_000 } }
const SIGNAL = { data: { ...APPROVAL, name: 'conform.signal' } }

export const PARKED_CHECKS: readonly Check[] = [
  ...checksOf('sleeps', {
    async 'reports a sleep with its milliseconds'(runner) {
      const answer = await runner.pass({ workflow: 'conform-sleep', data: { atMs: AT_MS } })
      reports(answer, { op: 'Sleep', step: 'nap', fields: { sleepMs: 1500 } })
    },
    async 'reports a sleep until a time with its epoch milliseconds'(runner) {
      const answer = await runner.pass({ workflow: 'conform-sleep', data: { atMs: AT_MS }, memo: { nap: NOTHING } })
      reports(answer, { op: 'SleepUntil', step: 'until', fields: { sleepUntilMs: AT_MS } })
    },
    async 'takes null, and an entry without data, for done'(runner) {
      const memo = { nap: NOTHING, until: {} }
      returns(await runner.pass({ workflow: 'conform-sleep', data: { atMs: AT_MS }, memo }), { awake: true })
    },
  }),
  ...checksOf('waits', {
    async 'reports a wait with its event, timeout and filter'(runner) {
      const fields = { eventName: 'conform.approved', timeoutMs: 60_000, if: 'async.data.id == event.data.id' }
      const answer = await runner.pass({ workflow: 'conform-wait', data: { id: 7 } })
      reports(answer, { op: 'WaitForEvent', step: 'approval', fields })
    },
    async 'says what the handler was given only where the engine takes that'(runner) {
      const answer = await runner.pass({ workflow: 'conform-wait', data: { id: 7 }, ctx: { features: [] } })
      reports(answer, { op: 'WaitForEvent', step: 'approval', fields: { given: undefined, since: undefined } })
    },
    async 'says nothing there, or that a first wait comes after no event'(runner) {
      const ctx = { features: [WAIT_ORDER_FEATURE] }
      const answer = await runner.pass({ workflow: 'conform-wait', data: { id: 7 }, ctx })
      reports(answer, { op: 'WaitForEvent', step: 'approval' })
      const [opcode] = member(answer.body, 'opcodes') as unknown[]
      const given = member(opcode, 'given')
      if (given === undefined) return
      same('given.settled of step "approval"', member(given, 'settled'), 0)
      same('given.except of step "approval"', member(given, 'except') ?? [], [])
    },
    async 'gives the handler the event'(runner) {
      const memo = { approval: { data: APPROVAL } }
      returns(await runner.pass({ workflow: 'conform-wait', data: { id: 7 }, memo }), { by: 'Ada' })
    },
    async 'gives the handler null after the timeout'(runner) {
      returns(await runner.pass({ workflow: 'conform-wait', data: { id: 7 }, memo: { approval: NOTHING } }), {
        by: null,
      })
    },
  }),
  ...checksOf('children', {
    async 'reports a child with its workflow and input'(runner) {
      const fields = { childName: 'conform-sequence', childData: { n: 4 } }
      reports(await runner.pass({ workflow: 'conform-child', data: { n: 4 } }), {
        op: 'RunWorkflow',
        step: 'sum',
        fields,
      })
    },
    async "gives the handler the child's result"(runner) {
      const memo = { sum: { data: { result: 10 } } }
      returns(await runner.pass({ workflow: 'conform-child', data: { n: 4 }, memo }), { child: { result: 10 } })
    },
    async "throws the child's error, and the handler may catch it"(runner) {
      const memo = { sum: { error: { message: 'the child failed' } } }
      returns(await runner.pass({ workflow: 'conform-child', data: { n: 4 }, memo }), { caught: 'the child failed' })
    },
  }),
  ...checksOf('effects', {
    async 'reports an emit with its event and data'(runner) {
      const answer = await runner.pass({ workflow: 'conform-effects', data: { url: 'https://example.com/hook' } })
      reports(answer, { op: 'Emit', step: 'tell', fields: { eventName: 'conform.told', data: { n: 1 } } })
    },
    async 'reports a webhook with its URL and data'(runner) {
      const data = { url: 'https://example.com/hook' }
      const answer = await runner.pass({
        workflow: 'conform-effects',
        data,
        memo: { tell: { data: { eventId: 'evt_2' } } },
      })
      reports(answer, { op: 'Webhook', step: 'call', fields: { webhookUrl: data.url, data: { n: 2 } } })
    },
    async 'goes on when both are stored'(runner) {
      const memo = { tell: { data: { eventId: 'evt_2' } }, call: { data: { deliveryId: 'dlv_1' } } }
      const answer = await runner.pass({ workflow: 'conform-effects', data: { url: 'https://example.com/hook' }, memo })
      returns(answer, { sent: true })
    },
  }),
  ...checksOf('races', {
    async 'reports all that takes part'(runner) {
      reports(await runner.pass({ workflow: 'conform-race' }), signal, limit)
    },
    async 'waits while nobody has won'(runner) {
      const memo = { signal: { pending: true }, limit: { pending: true } }
      reports(await runner.pass({ workflow: 'conform-race', memo }))
    },
    async 'goes on with the first that is stored, while the other is pending'(runner) {
      const memo = { limit: NOTHING, signal: { pending: true } }
      returns(await runner.pass({ workflow: 'conform-race', memo }), { winner: 'limit' })
    },
    async 'has the winner that comes first in the memo when both are stored'(runner) {
      const first = { signal: SIGNAL, limit: NOTHING }
      returns(await runner.pass({ workflow: 'conform-race', memo: first }), { winner: 'signal' })
      const second = { limit: NOTHING, signal: SIGNAL }
      returns(await runner.pass({ workflow: 'conform-race', memo: second }), { winner: 'limit' })
    },
  }),
]
