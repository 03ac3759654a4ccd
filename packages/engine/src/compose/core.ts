// The core that every part of the engine uses: the store and the other backends, the catalog, the announcer and the streams.

import { systemRandom } from '../adapters/clock/seeded-random.ts'
import { PrometheusMetrics } from '../adapters/metrics/prometheus.ts'
import { openTelemetry } from '../adapters/tracing/opentelemetry.ts'
import type { Config } from '../config/config.ts'
import { IdSource } from '../domain/text/ids.ts'
import type { Random } from '../ports/clock.ts'
import type { Sender } from '../ports/sender.ts'
import { Catalog } from '../services/catalog/catalog.ts'
import { Namespaces } from '../services/catalog/namespaces.ts'
import { Announcer } from '../services/commit/announce.ts'
import { Audit } from '../services/commit/audit.ts'
import { faultLog } from '../services/event/fault-log.ts'
import { Live } from '../services/live/live.ts'
import { LiveShare } from '../services/live/live-share.ts'
import { CallbackTokens } from '../services/support/callback-tokens.ts'
import { EngineHold } from '../services/support/engine-hold.ts'
import { PassTokens } from '../services/support/pass-tokens.ts'
import { RunTokens } from '../services/support/run-tokens.ts'
import type { Backends, BackendsOptions } from './backends.ts'

/** The core, including the parts that only compose and its files use. */
export type EngineCore = Awaited<ReturnType<typeof createCore>>

export interface CoreOptions extends BackendsOptions {
  config: Config
  ports: BackendsOptions['ports'] & { random?: Random; sender?: Sender }
}

export async function createCore({ config, log, owner, ports }: CoreOptions, backends: Backends) {
  const { store, clock, queue, limiter, bus, isShared } = backends
  const random = ports.random ?? systemRandom
  // A store that only this process opens may hold leases of a process that died.
  if (!isShared) await store.releaseOthers(owner, clock.now())
  const deliveryAttemptsMax = deliveryAttemptsOf(config)
  const isOpen = config.webhookAllowPrivate || ports.sender !== undefined
  const webhookAddresses = isOpen ? undefined : config.webhookAllow
  const { generationLimit: generationsMax, childGraceMs } = config
  const options = { deliveryAttemptsMax, generationsMax, childGraceMs, webhookAddresses }
  const catalog = await Catalog.load(store, options, isShared)
  const live = new Live()
  // Absent if this engine is alone.
  const liveShare = bus && new LiveShare({ bus, live, store, clock })
  const metrics = new PrometheusMetrics()
  const tokenKey = await store.tokenKey()
  const ids = new IdSource(() => random.next())
  return {
    store,
    limiter,
    catalog,
    namespaces: new Namespaces(catalog),
    announcer: new Announcer({ queue, live, store, metrics }),
    clock,
    random,
    ids,
    owner,
    hold: new EngineHold(config.hold),
    log,
    metrics,
    passTokens: new PassTokens(tokenKey),
    callbackTokens: new CallbackTokens(tokenKey),
    runTokens: new RunTokens(tokenKey),
    audit: new Audit({ store, clock, ids, log }),
    tracing: await openTelemetry(),
    report: faultLog(clock, log),
    backends,
    live,
    liveShare,
  }
}

/** The number of attempts: the first, and one after each wait of the schedule. */
export function deliveryAttemptsOf({ webhookScheduleMs }: Config): number {
  return webhookScheduleMs.length + 1
}

/** The dependencies that all lanes share. */
export function laneDeps({ store, clock, log, owner, backends: { queue, isShared } }: EngineCore) {
  return { store, queue, clock, log, owner, isShared }
}
