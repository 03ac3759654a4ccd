// Checks that only Connect has: the frames around invokes, the proof of the engine, a socket that is cut.

import { once } from 'node:events'
import { PROTOCOL_VERSION } from '@perdure/protocol'
import type { ConnectRunner } from '../runner/connect-runner.ts'
import { member, reports, same } from '../runner/expectations.ts'
import { Fault } from '../runner/runner.ts'
import type { Check } from './check.ts'

type ConnectCheck = Omit<Check, 'run'> & { run(runner: ConnectRunner): Promise<void> }

/** How long the suite waits for the first registration: people start the runner by hand. */
export const CONNECT_WAIT_MS = 120_000

const connectChecks = (checks: Record<string, ConnectCheck['run']>): ConnectCheck[] =>
  Object.entries(checks).map(([name, run]) => ({ group: 'connect', name, run }))

/** A key that no runner has. */
const OTHER_KEY = 'conform-other-key-conform-other-key-'
/** Runners wait before they dial again: three times as long as an answer may take. */
const RECONNECT_TIMEOUTS = 3

/** Before any other check, for a runner with a signing key: it has not dialled yet. */
export const PROOF_CHECKS: readonly ConnectCheck[] = connectChecks({
  async 'does not register with an engine that has not its key'(runner) {
    const right = runner.proofKey
    runner.proofKey = OTHER_KEY
    const event = await runner.nextEvent(CONNECT_WAIT_MS)
    runner.proofKey = right
    if (event === 'closed') return
    runner.cut()
    if (event) throw new Fault('expected the runner to leave an engine whose proof is wrong, and it registered')
    throw new Fault('expected the runner to dial, and to leave an engine whose proof is wrong')
  },
})

export const CONNECT_CHECKS: readonly ConnectCheck[] = connectChecks({
  async 'says hello first, and registers its workflows'(runner) {
    const { hello, registration } = await runner.registered()
    if (hello === undefined) throw new Fault('expected a hello before runner.register, got none')
    for (const [frame, payload] of Object.entries({ hello, 'runner.register': registration })) {
      const version = member(payload, 'protocolVersion')
      if (version !== undefined) same(`protocolVersion of ${frame}`, version, PROTOCOL_VERSION)
    }
    same('app of runner.register', member(registration, 'app'), runner.options.app)
    const workflows = member(registration, 'workflows')
    const names = Array.isArray(workflows) ? workflows.map(workflow => member(workflow, 'name')) : []
    if (!names.includes('conform-sequence'))
      throw new Fault(`expected conform-sequence in workflows of runner.register, got ${JSON.stringify(workflows)}`)
  },
  async 'answers a ping, as WebSocket demands'(runner) {
    const { socket } = runner.current
    const ponged = once(socket, 'pong', { signal: AbortSignal.timeout(runner.options.timeoutMs) }).catch(
      () => undefined,
    )
    socket.ping()
    if (!(await ponged)) throw new Fault(`expected a pong within ${runner.options.timeoutMs} ms, got none`)
  },
  async 'ignores frames of types that it does not know'(runner) {
    runner.send('news', { later: true })
    runner.send('invoke.cancel', {})
    const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 } })
    reports(answer, { op: 'StepRun', step: 'add', fields: { data: 5 } })
  },
  async 'dials and registers again when its socket was cut'(runner) {
    runner.cut()
    await runner.registered(RECONNECT_TIMEOUTS * runner.options.timeoutMs)
    const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 } })
    reports(answer, { op: 'StepRun', step: 'add', fields: { data: 5 } })
  },
})
