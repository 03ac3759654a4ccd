// The way to runners: the transports, the sockets of Connect runners on this engine and others, and the registry.

import { RelayedConnect } from '../adapters/connect/relay/relayed-connect.ts'
import { ConnectTransport } from '../adapters/connect/transport.ts'
import { HttpTransport } from '../adapters/transport/http.ts'
import { RoutedTransport } from '../adapters/transport/routed.ts'
import type { Config } from '../config/config.ts'
import type { Connections } from '../ports/connections.ts'
import type { Transport } from '../ports/transport.ts'
import { CatalogWatch } from '../services/catalog/catalog-watch.ts'
import { RunnerHealth } from '../services/catalog/runner-health.ts'
import { Registry } from '../services/registry/register.ts'
import type { Service, Stoppable } from '../services/support/service.ts'
import type { EngineCore } from './core.ts'

export interface RunnersPart {
  transport: Transport
  /** Where the sockets of this engine's Connect runners go. */
  connections: Connections & { readonly size: number }
  health: RunnerHealth
  registry: Registry
  /** Absent where no other engine registers runners. */
  catalogWatch: Service | undefined
  /** Sets what is called when a runner may have room for more, or is gone. `isForPeer`: another engine gets the first of it. */
  onRoomChange(notify: (url: string, isForPeer: boolean) => void): void
  /** Accepts no further socket, and lets other engines send no further invoke here. */
  drain(): void
  /** The invokes carried out here for other engines. */
  relayedInvokes: Stoppable
}

export async function createRunners(
  config: Config,
  core: EngineCore,
  given: Transport | undefined,
): Promise<RunnersPart> {
  const { clock } = core
  const { bus, isShared } = core.backends
  const { runnerStaleAfterMs: staleAfterMs, signingKeys } = config
  let notifyRoom: (url: string, isForPeer: boolean) => void = () => {}
  const onRoomChange = (url: string) => notifyRoom(url, relayed?.yieldsRoom(url) ?? false)
  const onAppReachable = (namespace: string, app: string) => void registry.wakeHeldRuns(namespace, app)

  const connect = new ConnectTransport({
    clock,
    onPresence: (url, isHere) => relayed?.presenceChanged(url, isHere),
    onRoomChange,
    ...(bus && { onForeignResult: result => relayed?.forwardResult(result) }),
  })
  const relayed = bus && new RelayedConnect({ bus, clock, local: connect, onAppReachable, onRoomChange })
  const http = new HttpTransport({ clock, signingKeys })
  const health = new RunnerHealth(clock)
  const presence = relayed ?? connect
  const registry: Registry = new Registry({ ...core, health, presence, staleAfterMs, signingKeys })
  const onRead = () => registry.forgetDisconnected({ staleAfterMs })
  const catalogWatch = isShared ? new CatalogWatch({ ...core, onAppReachable, onRead }) : undefined
  shareCatalog(core, catalogWatch)
  // Sockets do not outlive their process: what another one left behind is gone.
  if (!isShared) await registry.forgetDisconnected({ staleAfterMs: 0 })
  return {
    transport: given ?? new RoutedTransport({ http, connect: relayed ?? connect }),
    connections: connect,
    health,
    registry,
    catalogWatch,
    onRoomChange: notify => {
      notifyRoom = notify
    },
    drain: () => {
      connect.drain()
      relayed?.leave()
    },
    relayedInvokes: { stop: async deadline => relayed?.idle(deadline ?? AbortSignal.abort()) },
  }
}

/** Exchanges notifications of catalog changes with the other engines. */
function shareCatalog({ catalog, backends: { bus } }: EngineCore, watch: CatalogWatch | undefined): void {
  if (watch) catalog.refreshWith(() => watch.refresh())
  bus?.on('catalog', () => watch?.refreshSoon())
  bus?.onReconnect(() => watch?.refreshSoon())
  catalog.onChanged(() => bus?.publish('catalog', ''))
}
