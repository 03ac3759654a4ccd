// Engines of one process that reach each other's Connect runners, and runners whose sockets the test controls.

import type { FrameType } from '@perdure/protocol'
import { onTestFinished } from 'vitest'
import { connectUrl } from '../../../domain/model/connect-url.ts'
import type { RunnerConnection, RunnerSocket } from '../../../ports/connections.ts'
import type { InvokeCall, InvokeReply } from '../../../ports/transport.ts'
import { LoopbackNetwork } from '../../bus/loopback.testkit.ts'
import { VirtualClock } from '../../clock/virtual.ts'
import { ConnectTransport } from '../transport.ts'
import { RelayedConnect } from './relayed-connect.ts'

export const APP_RUNNER = connectUrl('default', 'app', 'r1')

export interface RelayEngine {
  name: string
  local: ConnectTransport
  relayed: RelayedConnect
  /** The app of each runner that was connected to another engine. */
  reachableApps: string[]
  /** Each runner of another engine that was reported to have room, or to be gone. */
  roomChanges: string[]
  invoke(call?: Partial<InvokeCall>): Promise<InvokeReply>
}

/** A virtual clock, a network, and engines on it. */
export class RelayCluster {
  readonly clock = new VirtualClock()
  readonly network: LoopbackNetwork

  constructor(seed = 1) {
    this.network = new LoopbackNetwork(this.clock, seed)
  }

  async engine(name: string): Promise<RelayEngine> {
    const { clock, network } = this
    const bus = await network.open(name)
    const local = new ConnectTransport({
      clock,
      closeGraceMs: 1,
      onPresence: (url, isHere) => relayed.presence.presenceChanged(url, isHere),
      onForeignResult: result => relayed.foreignResults.forward(result),
      onBeat: (namespace, beat) => relayed.presence.beat(namespace, beat),
    })
    const reachableApps: string[] = []
    const roomChanges: string[] = []
    const relayed: RelayedConnect = new RelayedConnect({
      bus,
      clock,
      local,
      onAppReachable: (_, app) => void reachableApps.push(app),
      onRoomChange: url => void roomChanges.push(url),
      closeGraceMs: 1,
    })
    onTestFinished(async () => {
      await relayed.close()
      await bus.close()
    })
    const invoke = (call: Partial<InvokeCall> = {}) =>
      relayed.invoke({ url: APP_RUNNER, body: '{}', timeoutMs: 600_000, signal: never(), ...call })
    return { name, local, relayed, reachableApps, roomChanges, invoke }
  }

  async engines(...names: string[]): Promise<RelayEngine[]> {
    const engines = await Promise.all(names.map(name => this.engine(name)))
    await this.settle()
    return engines
  }

  /** Delivers all messages, and those that follow from them, unless they take time. */
  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await this.clock.advance(0)
  }
}

/** Two engines; the first has the runner's socket. */
export async function twoEngines({
  seed,
  ...terms
}: {
  seed?: number
  maxConcurrency?: number
  instance?: string
} = {}) {
  const cluster = new RelayCluster(seed)
  const [one, two] = (await cluster.engines('one', 'two')) as [RelayEngine, RelayEngine]
  const runner = connectRunner(one, terms)
  await cluster.settle()
  return { cluster, one, two, runner }
}

interface ReceivedInvoke {
  id: string
  payload: Record<string, unknown>
  /** The payload as it was sent. */
  text: string
}

export interface FakeRunner {
  /** The invokes it received, in order. */
  invokes: ReceivedInvoke[]
  cancelled: string[]
  /** Payloads of the acknowledgements of its checkpoints. */
  acks: string[]
  /** The steps that were named by heartbeats outside its socket. */
  beats: (string | undefined)[]
  /** Called with each invoke. */
  onInvoke(invoke: ReceivedInvoke): void
  connection: RunnerConnection
}

/** Opens a runner's socket on the engine. */
export function connectRunner(
  { local }: Pick<RelayEngine, 'local'>,
  { url = APP_RUNNER, maxConcurrency, instance }: { url?: string; maxConcurrency?: number; instance?: string } = {},
): FakeRunner {
  const runner: Omit<FakeRunner, 'connection'> & { connection?: RunnerConnection } = {
    invokes: [],
    cancelled: [],
    acks: [],
    beats: [],
    onInvoke: () => {},
  }
  const socket: RunnerSocket = {
    lastSeenAt: 1,
    heardAt: 0,
    isWritable: true,
    send(type: FrameType, id, payload = '') {
      if (type === 'invoke.cancel') runner.cancelled.push(id)
      if (type === 'checkpoint.ack') runner.acks.push(payload)
      if (type !== 'invoke') return
      const invoke = { id, payload: JSON.parse(payload) as Record<string, unknown>, text: payload }
      runner.invokes.push(invoke)
      runner.onInvoke(invoke)
    },
    close() {},
    ping() {},
    doubt() {},
    giveUp() {},
    beat: step => void runner.beats.push(step),
    silence: undefined,
  }
  runner.connection = local.open(socket, { url, isNamed: true, maxConcurrency, instance })
  return runner as FakeRunner
}

function never(): AbortSignal {
  return new AbortController().signal
}
