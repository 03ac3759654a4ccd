// `@perdure/sdk/connect`: a runner that dials the engine, so that it needs no address of its own.

export { connect } from './connect.ts'
export type { ConnectedRunner, ConnectOptions } from './options.ts'
