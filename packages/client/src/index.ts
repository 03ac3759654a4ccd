// A typed client of the HTTP interface, derived from its operations.

export type { Operations } from '@perdure/protocol/operations'
