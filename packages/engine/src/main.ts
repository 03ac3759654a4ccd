// The engine as a library: what the CLI, the tests and the benchmarks use.

export { type AdministrationOptions, type OpenAdministration, openAdministration } from './administration.ts'
export { createEngine, type Engine, type Ports } from './compose.ts'
export { type Config, ConfigError, FLAGS, flagOf, readConfig } from './config.ts'
export { type ApiKey, KEY_KINDS, type KeyKind, type Namespace, type StoredKey } from './domain/api-key.ts'
export { EngineError } from './domain/errors.ts'
export { type ServeOptions, serve } from './serve.ts'
