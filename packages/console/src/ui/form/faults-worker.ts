// The worker for one form: answers each text with its faults.

import type { ValueFault } from '@perdure/protocol/json-schema'
import type { WorkerScope } from '../../data/worker-scope.ts'
import { type FaultsJob, faultsOf } from './faults.ts'

/** The faults of the text. */
export interface FromFaultsWorker {
  text: string
  faults: ValueFault[]
}

const scope = self as unknown as WorkerScope<FaultsJob, FromFaultsWorker>

scope.onmessage = ({ data }) => scope.postMessage({ text: data.text, faults: faultsOf(data) })
