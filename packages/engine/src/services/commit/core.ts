// The dependencies that nearly every service needs. Compose makes one for the engine; a service declares the part it uses.

import type { Logger } from 'pino'
import type { PassReport } from '../../domain/pass/opcodes/context.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import type { Clock, Random } from '../../ports/clock.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Store } from '../../ports/store.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Namespaces } from '../catalog/namespaces.ts'
import type { Announcer } from './announce.ts'
import type { Audit } from './audit.ts'

export interface Core {
  store: Store
  limiter: Limiter
  catalog: Catalog
  namespaces: Namespaces
  announcer: Announcer
  clock: Clock
  random: Random
  ids: IdSource
  /** Name of this engine in the leases it takes. */
  owner: string
  log: Logger
  metrics: Metrics
  /** Absent where the engine does not trace. */
  tracing?: Tracing | undefined
  /** Records control actions. */
  audit: Audit
  /** Receives expressions that could not be evaluated, and unreadable log lines of runners. */
  report: PassReport
}
