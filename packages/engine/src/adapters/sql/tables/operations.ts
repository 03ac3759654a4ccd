// The flat language between the store and a SQL driver: row operations, checks and queries, all of them plain
// values, so that they cross to another thread or process cheaply. Built by change-ops, guard-checks and reads.

/** What a column holds, on its way in or out. */
export type Value = string | number | null
export type Row = Value[]

/** One row operation: its name, and its parameters by position. Each driver has a statement for every name. */
export type Op = [name: OpName, ...params: Value[]]

export type OpName =
  | 'run.insert'
  | 'run.update'
  | 'run.requestCancel'
  | 'run.runnerArrived'
  | 'slot.free'
  | 'startQueue.wake'
  | 'watch.insert'
  | 'watch.delete'
  | 'payload.insert'
  | 'step.insert'
  | 'wait.insert'
  | 'step.update'
  | 'step.wake'
  | 'frame.insert'
  | 'log.insert'
  | 'event.insert'
  | 'dedupe.claim'
  | 'delivery.insert'
  | 'delivery.update'
  | 'attempt.insert'
  | 'app.insert'
  | 'runner.put'
  | 'runner.delete'
  | 'workflow.put'
  | 'workflow.delete'
  | 'endpoint.put'
  | 'endpoint.delete'
  | 'receiver.put'
  | 'receiver.delete'
  | 'flow.put'
  | 'flow.delete'
  | 'control.put'
  | 'key.insert'
  | 'key.revoke'
  | 'namespace.insert'
  | 'namespace.suspend'
  | 'namespace.resume'
  | 'admin.changed'
  | 'catalog.changed'

/** A question whose answer must be exactly the expected rows, in whatever order. */
export interface Check {
  name: CheckName
  params: Value[]
  /** The expected rows, one after the other. */
  expected: Value[]
}

export type CheckName =
  | 'run.fence'
  | 'steps'
  | 'delivery.fence'
  | 'endpoint.version'
  | 'receiver.version'
  | 'slug'
  | 'flow.version'
  | 'flow.none'
  | 'live'
  | 'watchers'
  | 'waiters'
  | 'events'
  | 'eventsAfter'
  | 'dedupe'
  | 'catalog'

/** A read, in SQL that every dialect speaks, with `?` for its parameters. */
export interface Query {
  sql: string
  params: Value[]
}
