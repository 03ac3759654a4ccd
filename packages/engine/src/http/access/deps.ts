// What the routes call: the services' faces and the reads, wired by compose.ts. Routes know nothing below this.

import type {
  BulkReplayReply,
  DryRunReply,
  RegisterReply,
  RegisterRequest,
  RunExplanation,
  SendEventReply,
} from '@perdure/protocol'
import type { Logger } from 'pino'
import type { ScheduleView } from '../../domain/arrival/schedules.ts'
import type { ApiKey, KeyKind } from '../../domain/model/api-key.ts'
import type { RunStatusFrame } from '../../domain/model/change.ts'
import type { Endpoint, EndpointEdit, NewEndpoint, SavedEndpoint } from '../../domain/model/endpoint.ts'
import type { Event } from '../../domain/model/event.ts'
import type {
  NewReceiver,
  Receipt,
  Receiver,
  ReceiverEdit,
  SavedReceiver,
} from '../../domain/model/receiver.ts'
import type { App, Runner, Workflow } from '../../domain/model/workflow.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { WebhookPost } from '../../domain/webhook/schemes.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connections } from '../../ports/connections.ts'
import type { Store } from '../../ports/store.ts'
import type { ReplayFilter, RunView } from '../../ports/store-reads.ts'

/** A validated `POST /events` body; `data` is kept to the letter. */
export interface IncomingEvent {
  name: string
  app?: string
  data?: JsonText
  dedupeId?: string
  runner?: string
  targetApp?: string
  /** The caller's `traceparent`. */
  trace?: string
}

/** A runner as listed, with what only the engine knows of it. */
export interface RunnerView extends Runner {
  live: boolean
  keyMatches?: boolean
}

/** A workflow as listed, with its schedules as they stand. */
export interface WorkflowView extends Workflow {
  schedules: ScheduleView[]
}

export interface RegistryFace {
  /** `onRegistered` is called when it is durable, before runs that wait for the runner go on. */
  register(
    namespace: string,
    request: RegisterRequest,
    onRegistered?: (reply: RegisterReply) => void,
  ): Promise<RegisterReply>
  /** A Connect runner without an id of its own is gone with its socket. */
  forget(runner: Pick<Runner, 'namespace' | 'app' | 'runnerId'>): Promise<void>
  apps(namespace: string): App[]
  runners(namespace: string, app?: string): RunnerView[]
  workflows(namespace: string, app?: string): Promise<WorkflowView[]>
}

/** Who acts: the label of the API key, if any. */
export interface Actor {
  namespace: string
  label?: string
  /** The `traceparent` of what it asks, where that starts runs: they go on in that trace. */
  trace?: string
}

export interface ControlFace {
  /** Throws `namespace_suspended` where nothing may be started anew, as the three do that fork runs. */
  assertActive(namespace: string): void
  cancel(actor: Actor, runId: string): Promise<RunView>
  pause(actor: Actor, runId: string): Promise<RunView>
  resume(actor: Actor, runId: string): Promise<RunView>
  /** `input` is the overriding payload's text; undefined copies the source's. */
  replay(actor: Actor, runId: string, input: JsonText | undefined): Promise<RunView>
  retryFromStep(actor: Actor, runId: string, step: string): Promise<RunView>
  bulkReplay(actor: Actor, filter: ReplayFilter): Promise<BulkReplayReply>
}

export interface EndpointsFace {
  /** Oldest first. */
  list(namespace: string): Endpoint[]
  create(namespace: string, endpoint: NewEndpoint): Promise<SavedEndpoint>
  update(namespace: string, id: string, edit: EndpointEdit): Promise<SavedEndpoint>
  delete(namespace: string, id: string): Promise<void>
}

export interface ReceiversFace {
  /** Oldest first. */
  list(namespace: string): Receiver[]
  create(namespace: string, fields: NewReceiver): Promise<SavedReceiver>
  update(namespace: string, id: string, edit: ReceiverEdit): Promise<SavedReceiver>
  delete(namespace: string, id: string): Promise<void>
}

export interface DeliveriesFace {
  /** Delivers again, at once and with a new budget of attempts. */
  redeliver(namespace: string, deliveryId: string): Promise<void>
}

/** What this process commits, told to its open streams, as long as they listen. */
export interface LiveFace {
  /** By the id of a run: something of it was committed, these frames or (undefined) whatever the store has. */
  runs: Source<readonly StoredFrame[] | undefined>
  /** The status moves of all runs of a namespace, by its name. Best effort. */
  moves: Source<RunMove>
  /** The events recorded in a namespace, by its name. Best effort. */
  events: Source<Event>
}

export type RunMove = RunStatusFrame & { runId: string }

export interface Source<T> {
  /** Calls `listener` with all that is told under the key, until the returned function is called. */
  on(key: string, listener: (told: T) => void): () => void
}

export interface Readiness {
  ready: boolean
  checks: Record<string, 'ok' | 'unavailable'>
  draining: boolean
}

export type { ApiKey, KeyKind }

export interface KeyRing {
  /** True while no key was ever made: then everything is open in namespace `default`, to this machine alone. */
  readonly open: boolean
  /** The key with this secret, looked up in constant time. */
  find(secret: string): ApiKey | undefined
  /** Calls `tell` whenever the keys have changed, until the returned function is called. */
  onChange(tell: () => void): () => void
}

export interface HttpDeps {
  store: Store
  ingest: { send(namespace: string, event: IncomingEvent): Promise<SendEventReply> }
  /** What an event would do, without doing it. */
  dryRun(namespace: string, event: IncomingEvent): Promise<DryRunReply>
  /** Why a run is where it is; undefined when there is none. */
  explain(namespace: string, runId: string): Promise<RunExplanation | undefined>
  registry: RegistryFace
  control: ControlFace
  endpoints: EndpointsFace
  deliveries: DeliveriesFace
  receivers: ReceiversFace
  inbound: { receive(slug: string, post: WebhookPost): Promise<Receipt> }
  live: LiveFace
  readiness(): Promise<Readiness>
  /** The metrics of the engine as text, with those of the namespace's workflows. */
  metrics(namespace: string): Promise<string>
  /** Where the sockets of Connect runners go. */
  connections: Connections
  /** The integrity header over what a runner sent when it dialled. */
  sign(body: string): string
  keys: KeyRing
  /** Origins of the web pages that may call; `*` alone for all. */
  corsOrigins: readonly string[]
  clock: Clock
  log: Logger
}
