// The engine as a library: what the CLI, the SDK's testing kit, the tests and the benchmarks use.

export { seededRandom } from './adapters/clock/seeded-random.ts'
export { VirtualClock, type VirtualClockOptions } from './adapters/clock/virtual.ts'
export { openSqliteStore, type SqliteStoreOptions } from './adapters/sql/sqlite/store.ts'
export { type AdministrationOptions, type OpenAdministration, openAdministration } from './compose/administration.ts'
export { createEngine, type Engine, type Ports } from './compose/engine.ts'
export { createLog } from './compose/log.ts'
export {
  backupStore,
  type CopyOptions,
  type MoveProgress,
  moveStore,
  restoreStore,
  type Violation,
  verifyStore,
} from './compose/maintenance.ts'
export { type Config, ConfigError, FLAGS, flagOf, readConfig, storeOfEnvironment } from './config/config.ts'
export { type DoctorOptions, examine, type Finding, type Verdict } from './doctor/doctor.ts'
export {
  type ApiKey,
  KEY_KINDS,
  type KeyKind,
  type Namespace,
  type StoredKey,
} from './domain/model/api-key.ts'
export { EngineError } from './domain/model/errors.ts'
export { inputFaults } from './domain/registry/input-schema.ts'
export type { Clock, Random } from './ports/clock.ts'
export type { SendCall, Sender, SendReply } from './ports/sender.ts'
export type { Store } from './ports/store.ts'
export type { InvokeCall, InvokeReply, Transport } from './ports/transport.ts'
