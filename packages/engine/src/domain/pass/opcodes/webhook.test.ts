// Webhook: a durable, unsigned delivery, created in the commit of its step (docs/webhooks.md#custom-sends).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { NOW, reported, run, sends } from '../../testkit/nouns.testkit.ts'
import { runTraceparent } from '../../text/traceparent.ts'
import { readAnswer } from '../answer/outcome.ts'

const hook = sends('tell', 'https://partner.test/hook', '{"n": 1.0}')

describe('a webhook send', () => {
  const then = given(run()).when(reported(hook))
  const [created] = then.changes('delivery.created')

  it('enqueues a custom delivery of its unchanged data, without an endpoint or a source run', () => {
    expect(created?.delivery).toEqual({
      namespace: 'default',
      id: created?.delivery.id,
      app: 'shop',
      url: 'https://partner.test/hook',
      eventKind: 'custom',
      trace: runTraceparent(run()),
      payload: '{"n": 1.0}',
      status: 'pending',
      attemptCount: 0,
      maxAttempts: 8,
      createdAt: NOW,
      updatedAt: NOW,
      fence: 0,
      availableAt: NOW,
    })
  })

  it('is settled at once with the id of its delivery', () => {
    const id = created?.delivery.id
    expect(then.step('tell')).toMatchObject({
      status: 'succeeded',
      deliveryId: id,
      data: `{"deliveryId":"${id}"}`,
    })
    expect(then.next).toBe('pass')
  })

  it('without data has no payload', () => {
    const [bare] = given(run())
      .when(reported(sends('tell', 'http://partner.test/')))
      .changes('delivery.created')
    expect(bare?.delivery).not.toHaveProperty('payload')
  })

  it('has an id that follows from run, step and time alone', () => {
    const [again] = given(run()).when(reported(hook)).changes('delivery.created')
    const [other] = given(run({ id: 'run_2' }))
      .when(reported(hook))
      .changes('delivery.created')
    expect(again?.delivery.id).toBe(created?.delivery.id)
    expect(other?.delivery.id).not.toBe(created?.delivery.id)
  })
})

it.each([
  'ftp://partner.test/',
  'partner.test/hook',
  'javascript:alert(1)',
  '',
  'https://user:pw@partner.test/hook',
  'https://user@partner.test/hook',
  'https://partner.test/\u0000',
  `https://partner.test/${'x'.repeat(2048)}`,
  7,
  null,
  undefined,
])(
  'a webhook send to what is no URL for it (%#) is refused: the step gets an error the handler may catch',
  webhookUrl => {
    const opcode = { op: 'Webhook', id: 'hash-of-tell', name: 'tell', webhookUrl, data: 1 }
    const then = given(run()).when(readAnswer(206, JSON.stringify({ opcodes: [opcode] })))
    expect(then.changes('delivery.created')).toEqual([])
    expect(then.step('tell')).toMatchObject({
      status: 'failed',
      error: { name: 'WebhookUrlError', message: expect.stringContaining('webhookUrl must be') },
    })
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running' } })
  },
)
