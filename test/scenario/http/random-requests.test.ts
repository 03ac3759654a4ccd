// Every operation, called with random requests made from its description: the description declares each answer.

import { errorsOf, type Operation, operationList } from '@perdure/protocol/operations'
import { expect, test } from 'vitest'
import { Attacked, expectRefusal } from '../../kit/http/attack.ts'
import { expectToFit } from '../../kit/http/fits.ts'
import { randomQuery, randomValue } from '../../kit/http/random-request.ts'
import { seeded } from '../../kit/seeded.ts'
import { isNight } from '../../part.ts'

const SEED = Number(process.env.PERDURE_SEED ?? 1)
const REQUESTS = isNight ? 400 : 10

const attacked = await Attacked.open()
/** A stream of a namespace ends with its client, and `/connect` is a socket. */
const called = operationList.filter(({ reply, access }) => !reply.stream && reply.status !== 101 && access !== 'public')

test.each(called)('$id', async operation => {
  const random = seeded(SEED * 1000 + operationList.indexOf(operation)).next
  for (let i = 0; i < REQUESTS; i++) {
    const query = randomQuery(operation, random)
    const body =
      operation.body && JSON.stringify(randomValue(operation.body.schema as unknown as Record<string, unknown>, random))
    const id = random() < 0.2 ? { id: random() < 0.5 ? 'x'.repeat(600) : '%F0%9F%98%80' } : {}
    const answer = await attacked.attack(operation, { ...id, query, ...(body === undefined ? {} : { body }) })
    const what = `request ${i} of seed ${SEED}: ${operation.method} ${operation.path}${query} ${body ?? ''}`
    expectDeclared(answer, operation, what)
  }
})

type Answer = Awaited<ReturnType<Attacked['attack']>>

function expectDeclared(answer: Answer, operation: Operation, what: string): void {
  const { reply, otherwise } = operation
  const declared = [reply, otherwise].find(one => one?.status === answer.status)
  if (!declared) {
    expect(answer.status, `${what} answered ${answer.text}`).toBeGreaterThanOrEqual(400)
    expectRefusal(answer, errorsOf(operation))
  } else if (declared.schema) expectToFit(answer.json, declared.schema, what)
}
