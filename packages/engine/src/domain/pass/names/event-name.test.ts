// The event names that a workflow may use: those that `POST /events` accepts (docs/events.md#send-an-event).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { run } from '../../testkit/nouns.testkit.ts'
import { readAnswer } from '../answer/outcome.ts'

const reporting = (op: 'Emit' | 'WaitForEvent', eventName: unknown) => {
  const opcode = { op, id: 'hash-of-a', name: 'a', eventName }
  return given(run()).when(readAnswer(206, JSON.stringify({ opcodes: [opcode] })))
}

describe.each(['Emit', 'WaitForEvent'] as const)('%s', op => {
  it.each(['', ' \t', 'a\u0000b', 'a\nb', 'a\u0085', 'a\ud800', 'x'.repeat(257), 7, null, undefined, ['paid']])(
    'of %j fails the step, where the handler may catch it',
    eventName => {
      const then = reporting(op, eventName)
      expect(then.step('a')).toMatchObject({
        op,
        status: 'failed',
        error: { name: 'EventNameError', message: expect.stringContaining('eventName must be') },
      })
      expect(then).toMatchObject({ next: 'pass', run: { status: 'running' } })
      expect(then.changes('event.recorded')).toEqual([])
    },
  )

  it.each(['perdure/run.failed', 'perdure/'])('of %j, which only the engine sends, fails the step', eventName => {
    const then = reporting(op, eventName)
    const message = expect.stringContaining('must not begin with perdure/')
    expect(then.step('a')).toMatchObject({ status: 'failed', error: { name: 'EventNameError', message } })
    expect(then.next).toBe('pass')
  })

  it.each(['perdure', 'perdure.run', 'Perdure/x', 'paid', ' order paid ', 'été.*', '☃😀', '😀'.repeat(256)])(
    'of %j is accepted',
    name => {
      expect(reporting(op, name).step('a')).toMatchObject({ eventName: name })
      expect(reporting(op, name).step('a').status).toBe(op === 'Emit' ? 'succeeded' : 'waiting')
    },
  )
})
