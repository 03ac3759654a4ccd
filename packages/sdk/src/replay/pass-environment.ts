// The objects that the parts of one pass share. Built by invoke.ts.

import type { InvokeContext } from '@perdure/protocol'
import type { MiddlewareChain } from '../middleware/chain.ts'
import type { Pass } from '../pass/pass.ts'
import type { Cancellation } from '../run/cancellation.ts'
import type { LogBuffer } from '../run/log-buffer.ts'

export interface PassEnvironment {
  readonly pass: Pass
  readonly ctx: InvokeContext
  readonly logs: LogBuffer
  readonly cancellation: Cancellation
  readonly middleware: MiddlewareChain
}
