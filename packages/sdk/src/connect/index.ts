// `@perdure/sdk/connect`: a runner that connects to the engine, so that it needs no address.

export { connect } from './connect.ts'
export type { ConnectedRunner, ConnectOptions } from './options.ts'
