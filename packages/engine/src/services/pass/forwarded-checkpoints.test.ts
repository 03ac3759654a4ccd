// Reports that go to another engine over a bus that loses, repeats and reorders messages.

import { describe, expect, test } from 'vitest'
import { LoopbackNetwork } from '../../adapters/bus/loopback.testkit.ts'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { ForwardedCheckpoints } from './forwarded-checkpoints.ts'

/** Two engines; the second one drives the run and stores what `store` says. */
async function twoEngines(store: (no: number, payload: string) => Promise<string>, owner = 'two') {
  const clock = new VirtualClock()
  const network = new LoopbackNetwork(clock, 7)
  const runs = { loadRun: async () => ({ run: { leaseOwner: owner } }) as never }
  const unused = async () => expect.unreachable('the first engine has no pass')
  const one = new ForwardedCheckpoints({ bus: await network.open('one'), clock, store: runs, receiveHere: unused })
  new ForwardedCheckpoints({ bus: await network.open('two'), clock, store: runs, receiveHere: store })
  const forward = async (payload: string) => {
    const outcome = one.forward({ engine: 'two', no: 3, runId: 'run_1' }, payload).catch(error => error as EngineError)
    for (let i = 0; i < 40; i++) await clock.advance(250)
    return outcome
  }
  return { network, forward }
}

describe('a report to another engine', () => {
  test('gets its receipt although messages are lost, repeated and late', async () => {
    const stored: string[] = []
    const { network, forward } = await twoEngines(async (no, payload) => {
      stored.push(`${no} ${payload}`)
      return '{"seq":1}'
    })
    network.faults = { lost: 0.3, repeated: 0.3, delayMsMax: 500 }
    for (let i = 0; i < 20; i++) expect(await forward(`line\n${i}`)).toBe('{"seq":1}')
    expect(new Set(stored)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `3 line\n${i}`)))
  })

  test.each(['gone', 'invalid_request', 'rate_limited', 'unavailable'] as const)('is refused as %s', async code => {
    const { forward } = await twoEngines(async () => {
      throw new EngineError(code, 'for a reason')
    })
    expect(await forward('{}')).toMatchObject({ code })
  })

  test('is gone when the run has another owner, and unavailable when its owner is silent', async () => {
    const silent = await twoEngines(async () => '')
    silent.network.cut('two')
    expect(await silent.forward('{}')).toMatchObject({ code: 'unavailable' })
    const lost = await twoEngines(async () => '', 'three')
    lost.network.cut('two')
    expect(await lost.forward('{}')).toMatchObject({ code: 'gone' })
  })
})
