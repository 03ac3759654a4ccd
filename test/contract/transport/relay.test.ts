// The transport contract for runners whose socket is at another engine: one engine calls, the other has the runner, and a network
// in this process connects them.

import { expect } from 'vitest'
import { LoopbackNetwork } from '../../../packages/engine/src/adapters/bus/loopback.testkit.ts'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { connectRunner, type FakeRunner } from '../../../packages/engine/src/adapters/connect/relay/relay.testkit.ts'
import { RelayedConnect } from '../../../packages/engine/src/adapters/connect/relay/relayed-connect.ts'
import { ConnectTransport } from '../../../packages/engine/src/adapters/connect/transport.ts'
import { connectUrl } from '../../../packages/engine/src/domain/model/connect-url.ts'
import { until } from '../../kit/index.ts'
import { type RunnerAct, transportContract } from './transport-contract.ts'

const clock = systemClock

transportContract('connect, through another engine', async () => {
  const network = new LoopbackNetwork(clock)
  const open = async (name: string) => {
    const bus = await network.open(name)
    const onPresence = (url: string, isHere: boolean) => relayed.presence.presenceChanged(url, isHere)
    const local = new ConnectTransport({ clock, closeGraceMs: 200, lostGraceMs: 300, onPresence })
    const relayed: RelayedConnect = new RelayedConnect({
      bus,
      clock,
      local,
      onAppReachable() {},
      onRoomChange() {},
      closeGraceMs: 200,
    })
    return { bus, local, relayed }
  }
  const [caller, host] = [await open('caller'), await open('host')]
  let act: RunnerAct | ((body: string) => RunnerAct) = 'hang'
  const runners: FakeRunner[] = []
  const connect = () => {
    const runner = connectRunner(host)
    runners.push(runner)
    runner.onInvoke = ({ id, text }) => {
      const now = typeof act === 'function' ? act(bodyOf(text)) : act
      if (now === 'vanish') {
        runner.connection.close()
        connect().connection.renew({ underWay: [] })
      } else if (now !== 'hang') runner.connection.result(id, now.status, now.body)
    }
    return runner
  }
  connect()
  const url = connectUrl('default', 'app', 'r1')
  await until(() => caller.relayed.reaches(url))
  const count = (what: 'invokes' | 'cancelled') => runners.reduce((sum, runner) => sum + runner[what].length, 0)
  return {
    transport: caller.relayed,
    url,
    deadUrl: connectUrl('default', 'app', 'nobody'),
    act: next => {
      act = next
    },
    async abandoned(n) {
      await until(() => count('cancelled') >= n)
    },
    async received(n) {
      await until(() => count('invokes') >= n)
      expect(count('invokes')).toBe(n)
    },
    async close() {
      await Promise.all([caller.relayed.close(), host.relayed.close()])
      await Promise.all([caller.bus.close(), host.bus.close()])
    },
  }
})

/** The invoke request as passed to the transport, without the deadline that the transport adds. */
function bodyOf(text: string): string {
  return text.replace(/^\{"deadlineMs":\d+,?/, '{')
}
