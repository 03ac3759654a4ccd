// The engine as a library: what the CLI, the tests and the benchmarks use.

export { createEngine, type Engine, type Ports } from './compose.ts'
export { type Config, ConfigError, FLAGS, flagOf, readConfig } from './config.ts'
export { type ServeOptions, serve } from './serve.ts'
