// The worker for one form: answers each text with its faults.

import type { ValueFault } from '@perdure/protocol/json-schema'
import { type FaultsJob, faultsOf } from './faults.ts'

interface Scope {
  onmessage: ((event: MessageEvent<FaultsJob>) => void) | null
  postMessage(message: FromFaultsWorker): void
}

/** The faults of the text. */
export interface FromFaultsWorker {
  text: string
  faults: ValueFault[]
}

const scope = self as unknown as Scope

scope.onmessage = ({ data }) => scope.postMessage({ text: data.text, faults: faultsOf(data) })
