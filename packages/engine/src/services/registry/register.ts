// Registrations and heartbeats of runners (docs/wire-protocol.md#register), and the listings of apps, workflows and runners.
// Called by the HTTP routes and Connect.

import { FEATURES, keyFingerprint, PROTOCOL_VERSION, type RegisterReply, type RegisterRequest } from '@perdure/protocol'
import { type ScheduleView, scheduleChanges, scheduleView } from '../../domain/arrival/schedules.ts'
import type { Change, Guard, Unit } from '../../domain/model/change.ts'
import { isConnectUrl, isNamelessConnect } from '../../domain/model/connect-url.ts'
import type { UnitWithQuestions } from '../../domain/model/decision.ts'
import { invalid, invariant, StaleError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { type App, type KeptDefinition, type Runner, runnerKey, type Workflow } from '../../domain/model/workflow.ts'
import { withPresent } from '../../domain/registry/definition-history.ts'
import { instancesOf, withoutInstance } from '../../domain/registry/leaving.ts'
import { registeredRunner, registeredWorkflow, registrationChanges } from '../../domain/registry/registration.ts'
import { full, type RegistrationLimits, roomGuards } from '../../domain/registry/registration-bounds.ts'
import {
  deletionWarnings,
  registrationWarnings,
  renamedAppWarnings,
  versionWarnings,
} from '../../domain/registry/registration-warnings.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import type { Presence } from '../../ports/connections.ts'
import { CATALOG_READ_EVERY_MS } from '../catalog/catalog-watch.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** How often a runner should repeat its registration. */
const HEARTBEAT_MS = 30_000
/**
 * Decisions about a process that leaves, while other processes of its runner register. After this many, the runner counts as
 * live.
 */
const LEAVE_TRIES_MAX = 5
/**
 * Decisions that may find room which other registrations take before the commit. After this many, the registration is refused.
 */
const ROOM_RACES_MAX = 3

export interface RegistryDeps extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'log'> {
  health: RunnerHealth
  presence: Presence
  staleAfterMs: number
  signingKeys: readonly string[]
  limits: RegistrationLimits
}

export class Registry {
  readonly #deps: RegistryDeps
  /** By the monotonic clock. */
  readonly #openedAt: number
  /** When this engine last heard from each runner, by the monotonic clock. */
  readonly #heardAt = new Map<string, number>()
  /** Registrations of Connect runners that have no id of their own and a socket at this engine. */
  readonly #connected = new Map<string, { namespace: string; request: RegisterRequest }>()
  /** The number of regular reads in a row at which this engine knew of no socket of a runner. */
  #absentReads: ReadonlyMap<string, number> = new Map()

  constructor(deps: RegistryDeps) {
    this.#deps = deps
    this.#openedAt = deps.clock.elapsed()
  }

  /**
   * Makes the registration durable. Calls `onRegistered` with the answer as soon as it is durable, before runs that wait for
   * the runner are woken. For a Connect runner the function opens the socket to invokes.
   */
  async register(
    namespace: string,
    request: RegisterRequest,
    onRegistered?: (reply: RegisterReply) => void,
  ): Promise<RegisterReply> {
    const { catalog, announcer, health, clock, staleAfterMs } = this.#deps
    refuseDuplicates(request)
    await catalog.refresh()
    const now = clock.now()
    const runner = registeredRunner(namespace, request, now)
    const workflows = request.workflows.map((registration, i) =>
      registeredWorkflow({ namespace, app: request.app, registration, field: `workflows[${i}]`, now }),
    )
    if (request.leaving && !isConnectUrl(request.url)) {
      await this.#leave(runner, request.instance)
      return this.#reply(runner, request)
    }
    const before = catalog.view(namespace).runners(runner.app)
    const instances = instancesOf(catalog.view(namespace).runner(runner.app, runner.runnerId), {
      instance: request.instance,
      now,
      staleAfterMs,
    })
    if (instances) runner.instances = instances
    const registered = await this.#commit(runner, workflows)
    const stored = registered.changes.find(change => change.type === 'runner.registered')?.runner ?? runner
    catalog.apply(registered.changes)
    this.#logNewAddress(runner, before)
    health.arrived(runner)
    this.#heardAt.set(runnerKey(runner), clock.elapsed())
    if (isNamelessConnect(runner)) this.#connected.set(runnerKey(runner), { namespace, request })
    const reply = this.#reply(stored, request, workflows)
    onRegistered?.(reply)
    announcer.announce(registered.changes)
    return reply
  }

  #reply(runner: Runner, request: RegisterRequest, workflows: readonly Workflow[] = []): RegisterReply {
    return {
      ok: true,
      protocolVersion: PROTOCOL_VERSION,
      runnerId: runner.runnerId,
      workflows: runner.workflows.length,
      heartbeatMs: HEARTBEAT_MS,
      staleAfterMs: this.#deps.staleAfterMs,
      ...this.#keyMatches(runner),
      features: [...FEATURES],
      warnings: [
        ...registrationWarnings(request),
        ...deletionWarnings(runner),
        ...this.#neighbourWarnings(runner, workflows),
      ],
    }
  }

  /** Warns of other live versions of the app, and of an app that this one seems to replace. */
  #neighbourWarnings(runner: Runner, workflows: readonly Workflow[]): string[] {
    const view = this.#deps.catalog.view(runner.namespace)
    const peers = view.runners(runner.app).filter(peer => peer.runnerId !== runner.runnerId && this.isLive(peer))
    const abandoned = workflows.flatMap(({ name }) =>
      view.appsWith(name).flatMap(app => {
        const isServed = app === runner.app || view.runners(app).some(other => !this.#isGone(other))
        return isServed ? [] : (view.workflow(app, name) ?? [])
      }),
    )
    return [...versionWarnings(runner, peers), ...renamedAppWarnings(workflows, abandoned)]
  }

  /**
   * Records that a process of the runner shuts down. The runner's row stays as it was registered, for runs that are pinned to
   * it.
   */
  async #leave({ namespace, app, runnerId }: Runner, instance: string | undefined): Promise<void> {
    const { store, catalog, clock, staleAfterMs } = this.#deps
    for (let tries = 0; tries < LEAVE_TRIES_MAX; tries++) {
      // The newest row: the catalog may lack heartbeats that other engines received.
      const { runners } = await store.catalog()
      const row = runners.find(one => one.namespace === namespace && one.app === app && one.runnerId === runnerId)
      if (!row) return
      const runner = withoutInstance(row, { instance, now: clock.now(), staleAfterMs })
      const changes: Change[] = [{ type: 'runner.registered', runner, ...(runner.hasLeft ? {} : { isRepeat: true }) }]
      const guards: Guard[] = [{ type: 'runner', namespace, app, runnerId, lastSeenAt: row.lastSeenAt }]
      try {
        await store.commit({ guards, changes })
      } catch (error) {
        if (error instanceof StaleError) continue
        throw error
      }
      catalog.apply(changes)
      return
    }
  }

  /** Removes a Connect runner that has no id of its own and has lost its socket. The workflows it served stay registered. */
  async forget(runner: Pick<Runner, 'namespace' | 'app' | 'runnerId'>): Promise<void> {
    const { store, catalog } = this.#deps
    const { namespace, app, runnerId } = runner
    const changes: Change[] = [{ type: 'runner.forgotten', namespace, app, runnerId }]
    for (const known of [this.#heardAt, this.#connected]) known.delete(runnerKey(runner))
    await store.commit({ guards: [], changes })
    catalog.apply(changes)
  }

  /**
   * Removes such runners if their engine stopped before it could. At all regular reads within `staleAfterMs` this engine knew
   * of no socket of theirs. Reads are counted, not time: after a freeze or a lost connection this engine does not know yet
   * which sockets other engines have.
   */
  async forgetDisconnected({ staleAfterMs }: { staleAfterMs: number }): Promise<void> {
    const { catalog, presence } = this.#deps
    const isAbsent = (runner: Runner) => isNamelessConnect(runner) && !presence.reaches(runner.url)
    const absent = catalog.allRunners().filter(isAbsent)
    const reads = new Map(
      absent.map(runner => [runnerKey(runner), 1 + (this.#absentReads.get(runnerKey(runner)) ?? 0)]),
    )
    this.#absentReads = reads
    for (const runner of absent)
      if ((reads.get(runnerKey(runner)) ?? 0) * CATALOG_READ_EVERY_MS > staleAfterMs) await this.forget(runner)
  }

  /** Registers runners again that have a socket here and were removed by another engine, which did not hear of the socket. */
  async registerRemoved(): Promise<void> {
    const { catalog, presence, log } = this.#deps
    for (const { namespace, request } of [...this.#connected.values()]) {
      const { app, url } = request
      const view = catalog.view(namespace)
      // An app without a row was deleted by a caller.
      if (view.runner(app, url) || !view.apps.has(app) || !presence.reaches(url)) continue
      try {
        await this.register(namespace, request)
      } catch (err) {
        log.error(
          { err, namespace, app, runner: url },
          'a removed runner with an open socket could not be registered again',
        )
        continue
      }
      log.warn(
        { namespace, app, runner: url },
        'another engine had removed a runner with an open socket: it is registered again',
      )
    }
  }

  /** Wakes the runs that are held for lack of a runner, because a runner of the app came within reach of this engine. */
  async wakeHeldRuns(namespace: string, app: string): Promise<void> {
    const { store, announcer, clock, health, catalog } = this.#deps
    for (const runner of catalog.view(namespace).runners(app)) health.arrived(runner)
    const changes: Change[] = [{ type: 'app.runnerArrived', namespace, app, at: clock.now() }]
    // If this fails, the runs find the runner a little later when their hold ends.
    await store.commit({ guards: [], changes }).then(
      () => announcer.announce(changes),
      () => {},
    )
  }

  apps(namespace: string): App[] {
    return [...this.#deps.catalog.view(namespace).apps.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  runners(namespace: string, app?: string): (Runner & { live: boolean; keyMatches?: boolean })[] {
    const view = this.#deps.catalog.view(namespace)
    return (app === undefined ? view.allRunners() : view.runners(app)).flatMap(runner => {
      const live = this.isLive(runner)
      // A Connect runner without a socket cannot be called; its row stays for the runs that are pinned to it.
      if (!live && isConnectUrl(runner.url)) return []
      const lastSeenAt = this.#deps.presence.lastSeenAt(runner.url) ?? runner.lastSeenAt
      return { ...runner, lastSeenAt, live, ...this.#keyMatches(runner) }
    })
  }

  async workflows(namespace: string, app?: string): Promise<(Workflow & { schedules: ScheduleView[] })[]> {
    const { store, catalog } = this.#deps
    const rows = await store.in(namespace).schedules()
    const workflows = catalog.view(namespace).workflows()
    const rowsOf = new Map<string, FlowRow[]>()
    for (const row of rows) {
      const of = JSON.stringify([row.app, row.workflow])
      rowsOf.set(of, [...(rowsOf.get(of) ?? []), row])
    }
    const listed = app === undefined ? workflows : workflows.filter(workflow => workflow.app === app)
    return listed.map(workflow => {
      const own = rowsOf.get(JSON.stringify([workflow.app, workflow.name])) ?? []
      return { ...workflow, schedules: own.map(scheduleView) }
    })
  }

  /**
   * The present and earlier definitions of the workflow, the newest first, and whether older ones follow; undefined if the
   * workflow is not registered. A page may be shorter than the limit.
   */
  async definitions(
    { namespace, app, name }: Pick<Workflow, 'namespace' | 'app' | 'name'>,
    { limit, before }: { limit: number; before: number | undefined },
  ): Promise<{ definitions: KeptDefinition[]; more: boolean } | undefined> {
    const { store, catalog } = this.#deps
    const present = catalog.view(namespace).workflow(app, name)
    if (!present) return undefined
    const reads = store.in(namespace)
    const rows = await reads.definitions({ app, workflow: name, before, limit })
    const definitions = withPresent(rows, { present, before }).slice(0, limit)
    const last = definitions.at(-1)
    // A page may end early, so only an empty one shows that nothing follows.
    const older = last && (await reads.definitions({ app, workflow: name, before: last.registeredAt, limit: 1 }))
    return { definitions, more: older !== undefined && older.length > 0 }
  }

  /** The number of events that makes the buffer a run; undefined for a debounce, or if the workflow no longer has a batch. */
  batchSizeOf({ namespace, app, workflow, policy }: FlowRow): number | undefined {
    if (policy !== 'batch') return undefined
    return this.#deps.catalog.view(namespace).workflow(app, workflow)?.flowControl?.batch?.maxSize
  }

  /**
   * Whether the runner's last heartbeat is no older than `staleAfterMs` and the runner has not left since; for a Connect
   * runner, whether it has a socket.
   */
  isLive(runner: Runner): boolean {
    if (isConnectUrl(runner.url)) return this.#deps.presence.reaches(runner.url)
    if (runner.hasLeft) return false
    const { clock, staleAfterMs } = this.#deps
    const ageMs = clock.now() - runner.lastSeenAt
    if (ageMs >= 0 && ageMs <= staleAfterMs) return true
    // The clock may have been set since; another engine's clock is no more than a little ahead.
    const heardAt = this.#heardAt.get(runnerKey(runner))
    if (heardAt !== undefined) return clock.elapsed() - heardAt <= staleAfterMs
    return ageMs < 0 && ageMs > -staleAfterMs
  }

  async #commit(runner: Runner, workflows: readonly Workflow[]): Promise<Unit> {
    const { store, catalog, limits } = this.#deps
    let lostRaces = 0
    const registered = await decideAndCommit<UnitWithQuestions>({
      store,
      decide: assumptions => this.#decide(runner, workflows, assumptions),
      // Another registration took the room in between: the next decision sees that, and refuses.
      onStale: async ({ type }) => {
        const isOfRoom = type === 'apps' || type === 'workflows' || type === 'runners'
        invariant(isOfRoom, 'a registration rests on nothing but schedules and room')
        if (++lostRaces > ROOM_RACES_MAX) throw full(type, limits[type])
        await catalog.refresh()
        return true
      },
    })
    invariant(registered, 'a registration is always decided')
    return registered
  }

  /**
   * Warns of an HTTP address that no runner of the app had before, since payloads will go there. The first address of an app is
   * no surprise.
   */
  #logNewAddress({ namespace, app, runnerId, url }: Runner, before: readonly Runner[]): void {
    const earlier = before.find(peer => peer.runnerId === runnerId)
    if (earlier?.url === url || isConnectUrl(url)) return
    const address = addressOf(url)
    if (before.some(peer => addressOf(peer.url) === address)) return
    // A runner without an id of its own has its URL as the id, which may have a secret in its query.
    const runner = runnerId === url ? address : runnerId
    const about = { namespace, app, runner, address, earlierAddress: earlier && addressOf(earlier.url) }
    this.#deps.log[before.length === 0 ? 'info' : 'warn'](about, "a new address of the app's runners")
  }

  #decide(runner: Runner, workflows: readonly Workflow[], assumptions: Assumptions): UnitWithQuestions {
    const { catalog, limits } = this.#deps
    const view = catalog.view(runner.namespace)
    const peers = view.runners(runner.app)
    const changes = registrationChanges({
      runner,
      workflows,
      earlier: peers.find(peer => peer.runnerId === runner.runnerId),
      others: peers.filter(peer => peer.runnerId !== runner.runnerId),
      gone: peers.filter(peer => this.#isGone(peer)),
      known: name => view.workflow(runner.app, name),
      stepLimits: view.stepLimits(runner.app),
    })
    const room = roomGuards({ changes, workflows }, view, limits)
    const before = (app: string, name: string) => view.workflow(app, name)
    const moves = scheduleChanges({ changes, before, assumptions, now: runner.lastSeenAt })
    const { questions } = moves
    return { questions, guards: [...room, ...moves.guards], changes: [...changes, ...moves.changes] }
  }

  /**
   * Whether the runner is gone. Unless it has left, false for a while after the start of the engine: until then the engine may
   * not have heard from every runner.
   */
  #isGone(runner: Runner): boolean {
    if (runner.hasLeft) return true
    const { clock, staleAfterMs } = this.#deps
    return clock.elapsed() - this.#openedAt > staleAfterMs && !this.isLive(runner)
  }

  /** Whether the runner has one of this engine's signing keys; omitted if the runner or the engine has none. */
  #keyMatches(runner: Runner): { keyMatches?: boolean } {
    const { signingKeys } = this.#deps
    const fingerprint = runner.keyFingerprint?.toLowerCase()
    if (fingerprint === undefined || signingKeys.length === 0) return {}
    return { keyMatches: signingKeys.some(key => keyFingerprint(key) === fingerprint) }
  }
}

/** Scheme, host and port of an HTTP URL; these contain no secret. */
function addressOf(url: string): string {
  return isConnectUrl(url) ? 'a socket' : new URL(url).origin
}

function refuseDuplicates(request: RegisterRequest): void {
  const names = new Set<string>()
  for (const [i, { name }] of request.workflows.entries()) {
    if (names.has(name)) throw invalid(`workflows[${i}].name`, `"${name}" is registered twice`)
    names.add(name)
  }
}
