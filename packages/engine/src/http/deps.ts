// What the routes call: the services' faces and the reads, wired by compose.ts. Routes know nothing below this.

import type { RegisterReply, RegisterRequest, SendEventReply } from '@perdure/protocol'
import type { Logger } from 'pino'
import type { JsonText } from '../domain/json-text.ts'
import type { App, Runner, Workflow } from '../domain/workflow.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunView, Store } from '../ports/store.ts'

/** A validated `POST /events` body; `data` is kept to the letter. */
export interface IncomingEvent {
  name: string
  app?: string
  data?: JsonText
  dedupeId?: string
  runner?: string
  targetApp?: string
}

/** A runner as listed, with what only the engine knows of it. */
export interface RunnerView extends Runner {
  live: boolean
  keyMatches?: boolean
}

export interface RegistryFace {
  register(namespace: string, request: RegisterRequest): Promise<RegisterReply>
  apps(namespace: string): App[]
  runners(namespace: string, app?: string): RunnerView[]
  workflows(namespace: string, app?: string): Workflow[]
}

/** Who acts: the label of the API key, if any. */
export interface Actor {
  namespace: string
  label?: string
}

export interface ControlFace {
  cancel(actor: Actor, runId: string): Promise<RunView>
  pause(actor: Actor, runId: string): Promise<RunView>
  resume(actor: Actor, runId: string): Promise<RunView>
  /** `input` is the overriding payload's text; undefined copies the source's. */
  replay(actor: Actor, runId: string, input: JsonText | undefined): Promise<RunView>
  retryFromStep(actor: Actor, runId: string, step: string): Promise<RunView>
}

/** Rings the open streams of this process when something of a run was committed. A ring may be spurious. */
export interface LiveFace {
  /** Calls `onRing` after commits that touch the run, until the returned function is called. */
  onRun(runId: string, onRing: () => void): () => void
}

export interface Readiness {
  ready: boolean
  checks: Record<string, 'ok' | 'unavailable'>
  draining: boolean
}

export type KeyKind = 'secret' | 'read' | 'event' | 'runner'

export interface ApiKey {
  label: string
  namespace: string
  kind: KeyKind
}

export interface KeyRing {
  /** True when no key is configured at all: then everything is open in namespace `default`. */
  readonly open: boolean
  /** The key with this secret, looked up in constant time. */
  find(secret: string): ApiKey | undefined
}

export interface HttpDeps {
  store: Store
  ingest: { send(namespace: string, event: IncomingEvent): Promise<SendEventReply> }
  registry: RegistryFace
  control: ControlFace
  live: LiveFace
  readiness(): Promise<Readiness>
  keys: KeyRing
  clock: Clock
  log: Logger
}
