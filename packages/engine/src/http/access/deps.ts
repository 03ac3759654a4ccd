// Everything that routes call: the services by their own types, and the store for reads. Provided by compose/http.ts.

import type { Logger } from 'pino'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Clock, Random } from '../../ports/clock.ts'
import type { Connections } from '../../ports/connections.ts'
import type { MessageMemory } from '../../ports/message-memory.ts'
import type { Store } from '../../ports/store.ts'
import type { Engines } from '../../services/admin/engines.ts'
import type { Health } from '../../services/admin/health.ts'
import type { KeyRing } from '../../services/admin/keys.ts'
import type { NamespaceKeys } from '../../services/admin/namespace-keys.ts'
import type { Release } from '../../services/admin/release.ts'
import type { RunAccess } from '../../services/admin/run-access.ts'
import type { Sessions } from '../../services/admin/sessions.ts'
import type { SharedViews } from '../../services/admin/views.ts'
import type { Load } from '../../services/catalog/runner-load.ts'
import type { Buffers } from '../../services/event/buffers.ts'
import type { DryRun } from '../../services/event/dry-run.ts'
import type { Ingest } from '../../services/event/ingest.ts'
import type { Redrive } from '../../services/event/redrive.ts'
import type { ScheduledEvents } from '../../services/event/scheduled-events.ts'
import type { Schedules } from '../../services/event/schedules.ts'
import type { EventWhy } from '../../services/event/why.ts'
import type { Live } from '../../services/live/live.ts'
import type { AnotherPass } from '../../services/pass/another-pass.ts'
import type { HttpCheckpoints } from '../../services/pass/http-checkpoints.ts'
import type { Deletion } from '../../services/registry/deletion.ts'
import type { Registry } from '../../services/registry/register.ts'
import type { WorkflowControl } from '../../services/registry/workflow-control.ts'
import type { Budgets } from '../../services/run/budgets.ts'
import type { Bulk } from '../../services/run/bulk.ts'
import type { Callbacks } from '../../services/run/callbacks.ts'
import type { Control } from '../../services/run/control.ts'
import type { Erasure } from '../../services/run/erase.ts'
import type { ErrorStates } from '../../services/run/error-states.ts'
import type { Passes } from '../../services/run/passes.ts'
import type { RunResults } from '../../services/run/results.ts'
import type { RunningSteps } from '../../services/run/running-steps.ts'
import type { Settlements } from '../../services/run/settle.ts'
import type { Signals } from '../../services/run/signals.ts'
import type { Starts } from '../../services/run/start.ts'
import type { RunWhy } from '../../services/run/why.ts'
import type { EndpointTests } from '../../services/webhook/endpoint-tests.ts'
import type { Endpoints } from '../../services/webhook/endpoints.ts'
import type { Inbound } from '../../services/webhook/inbound.ts'
import type { Receivers } from '../../services/webhook/receivers.ts'
import type { Deliveries } from '../../services/webhook/redeliver.ts'
import type { RequestPermits } from '../bounds/request-permits.ts'
import type { HttpLimits } from '../request/limits.ts'
import type { ConsoleFiles } from '../response/console-files.ts'

export interface HttpDeps {
  store: Store
  ingest: Ingest
  scheduledEvents: ScheduledEvents
  schedules: Schedules
  buffers: Buffers
  dryRun: DryRun
  eventWhy: EventWhy
  runWhy: RunWhy
  results: RunResults
  passes: Passes
  runningSteps: RunningSteps
  settlements: Settlements
  budgets: Budgets
  registry: Registry
  /** The load of a runner, and how many more invokes it takes if it has a bound. */
  loadOf(runner: Runner): Partial<Load> & { room: number | undefined }
  workflowControl: WorkflowControl
  deletion: Deletion
  control: Control
  bulk: Bulk
  callbacks: Callbacks
  signals: Signals
  erasure: Erasure
  errorStates: ErrorStates
  views: SharedViews
  starts: Starts
  redrive: Redrive
  httpCheckpoints: HttpCheckpoints
  anotherPass: AnotherPass
  endpoints: Endpoints
  endpointTests: EndpointTests
  deliveries: Deliveries
  receivers: Receivers
  inbound: Inbound
  live: Live
  health: Health
  engines: Engines
  release: Release
  /** The metrics of the engine as text, including those of the namespace's workflows. */
  metrics(namespace: string): Promise<string>
  /** Accepts the sockets of Connect runners. */
  connections: Connections
  /** The memory for large messages of runners. */
  messages: MessageMemory
  /**
   * The header over a nonce of a connecting runner, for the host that it says it dialled, if it names one
   * (docs/wire-protocol.md#proof-of-the-engine).
   */
  proof(nonce: string, host: string | undefined): string
  keys: KeyRing
  sessions: Sessions
  runAccess: RunAccess
  namespaceKeys: NamespaceKeys
  /** Permits of requests that start work (accept.ts). */
  acceptance: RequestPermits
  /** Whether the namespace starts no new runs. */
  isSuspended(namespace: string): boolean
  storeKind: 'sqlite' | 'postgres'
  /** Most runs that one bulk replay forks. */
  bulkReplayLimit: number
  /** Origins of the web pages that may call; `*` stands for all. */
  corsOrigins: readonly string[]
  /** The files of the console, the path prefix of a proxy, and whether payloads are shown as shapes; absent when it is off or was not built. */
  console?: { files: ConsoleFiles; prefix: string; hidesPayloads: boolean } | undefined
  /** Most streams and sockets of one namespace, and of one API key. */
  openLimits: Record<'streams' | 'keyStreams' | 'sockets' | 'keySockets', number>
  /** Replaces individual bounds of `HTTP_LIMITS`. */
  limits?: Partial<HttpLimits> | undefined
  clock: Clock
  random: Random
  log: Logger
}
