// The connection to runners: the transports, the sockets of Connect runners on this engine and others, and the registry.

import { RelayedConnect } from '../adapters/connect/relay/relayed-connect.ts'
import { ConnectTransport } from '../adapters/connect/transport.ts'
import { HttpTransport } from '../adapters/transport/http.ts'
import { RoutedTransport } from '../adapters/transport/routed.ts'
import type { Config } from '../config/config.ts'
import type { Workflow } from '../domain/model/workflow.ts'
import type { MessageMemory } from '../ports/message-memory.ts'
import type { Transport } from '../ports/transport.ts'
import { CatalogWatch } from '../services/catalog/catalog-watch.ts'
import { RunnerHealth } from '../services/catalog/runner-health.ts'
import { RunnerLoad } from '../services/catalog/runner-load.ts'
import { wakeThrottled } from '../services/commit/wake-throttled.ts'
import { Registry } from '../services/registry/register.ts'
import { SilentRunners } from '../services/registry/silent-runners.ts'
import type { EngineCore } from './core.ts'

export type RunnersPart = Awaited<ReturnType<typeof createRunners>>

export async function createRunners(
  config: Config,
  core: EngineCore,
  { given, messages: memory }: { given: Transport | undefined; messages: MessageMemory },
) {
  const { clock } = core
  const { bus, isShared } = core.backends
  const { runnerStaleAfterMs: staleAfterMs, signingKeys, limits } = config
  let notifyRoom: (url: string, isForPeer: boolean) => void = () => {}
  const onRoomChange = (url: string) => notifyRoom(url, relayed?.presence.yieldsRoom(url) ?? false)
  const onAppReachable = (namespace: string, app: string) => void registry.wakeHeldRuns(namespace, app)

  const connect: ConnectTransport = new ConnectTransport({
    clock,
    memory,
    onPresence: (url, isHere) => relayed?.presence.presenceChanged(url, isHere),
    onRoomChange,
    onBeat: (namespace, beat) => relayed?.presence.beat(namespace, beat),
    ...(bus && { onForeignResult: result => relayed?.foreignResults.forward(result) }),
  })
  const relayed = bus && new RelayedConnect({ bus, clock, local: connect, onAppReachable, onRoomChange })
  const http = new HttpTransport({ clock, signingKeys, memory })
  const health = new RunnerHealth(clock)
  const load = new RunnerLoad({ clock, bus })
  const presence = relayed ?? connect
  const registry: Registry = new Registry({ ...core, health, presence, staleAfterMs, signingKeys, limits })
  const onRead = async () => {
    await registry.registerRemoved()
    await registry.forgetDisconnected({ staleAfterMs })
  }
  const onLimited = ({ namespace, app, name: workflow }: Pick<Workflow, 'namespace' | 'app' | 'name'>) =>
    void wakeThrottled(core, { namespace, app, workflow })
  // Absent if no other engine registers runners.
  const catalogWatch = isShared ? new CatalogWatch({ ...core, onAppReachable, onLimited, onRead }) : undefined
  shareCatalog(core, catalogWatch)
  // Sockets do not outlive their process: whatever another process left behind is gone.
  if (!isShared) await registry.forgetDisconnected({ staleAfterMs: 0 })
  const transport: Transport = given ?? new RoutedTransport({ http, connect: presence })
  return {
    transport,
    connections: connect,
    health,
    load,
    registry,
    catalogWatch,
    silentRunners: new SilentRunners({ ...core, presence, health, staleAfterMs }),
    /**
     * Sets the function to call when a runner may have room for more, or is gone. `isForPeer`: another engine gets the room
     * first.
     */
    onRoomChange(notify: typeof notifyRoom) {
      notifyRoom = notify
    },
    /** Accepts no further socket, and lets other engines send no further invoke here. */
    drain() {
      connect.drain()
      relayed?.presence.leave()
    },
    /** The invokes carried out here for other engines. */
    relayedInvokes: { stop: async (deadline: AbortSignal) => relayed?.host.idle(deadline) },
  }
}

/** Exchanges notifications of catalog changes with the other engines. */
function shareCatalog({ catalog, backends: { bus } }: EngineCore, watch: CatalogWatch | undefined): void {
  if (watch) catalog.refreshWith(() => watch.refresh())
  bus?.on('catalog', () => watch?.refreshSoon())
  bus?.onReconnect(() => watch?.refreshSoon())
  catalog.onChanged(() => bus?.publish('catalog', ''))
}
