// Rate limit: the limiter is queried once for an arrival, and its answer decides.

import { expect, it } from 'vitest'
import { arrives, changesOf, under } from '../testkit/arrivals.testkit.ts'

const limited = under({ rateLimit: { limit: 3, periodMs: 1000, key: 'event.data.id' } })
const ask = (data: unknown, origin?: string) => {
  const { questions } = arrives(data, {}, [limited], origin === undefined ? {} : { origin })
  expect(questions).toHaveLength(1)
  const [question] = questions
  if (question?.type !== 'take') throw new Error('it has another question')
  return question
}

it('uses one limiter key for one value, whatever the event', () => {
  expect(ask({ id: 1 }).quota.key).toBe(ask({ id: 1 }, 'step').quota.key)
  expect(ask({ id: 1 }).quota.key).not.toBe(ask({ id: 2 }).quota.key)
})

it('is answered per arrival, which keeps its name when it is decided again', () => {
  expect(ask({ id: 1 }, 'step').of).toBe(ask({ id: 1 }, 'step').of)
  expect(ask({ id: 1 }, 'step').of).not.toBe(ask({ id: 1 }, 'other step').of)
})

it('lets the event start its run when the token is given, and drops it when not', () => {
  const decide = (admitted: boolean) =>
    arrives({ id: 1 }, { limiterAnswers: new Map([[ask({ id: 1 }).of, admitted]]) }, [limited])
  expect(decide(true).triggered).toMatchObject([{ runId: expect.any(String) }])
  const { triggered, questions, ...rest } = decide(false)
  expect(triggered).toEqual([{ workflow: 'order', app: 'shop', dropped: true }])
  expect([questions, changesOf(rest, 'run.created')]).toEqual([[], []])
})
