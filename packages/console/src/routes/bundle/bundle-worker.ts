// The worker for one large bundle: reads the file, and answers with the run, or with the reason why it is not a bundle.

import type { WorkerScope } from '../../data/worker-scope.ts'
import { type PackedBundle, packBundle } from './packed.ts'
import { readBundle } from './read-bundle.ts'

export type FromBundleWorker = { bundle: PackedBundle } | { fault: string }

const scope = self as unknown as WorkerScope<File, FromBundleWorker>

async function answer(file: File): Promise<FromBundleWorker> {
  try {
    return { bundle: packBundle(readBundle(await file.text())) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

scope.onmessage = ({ data }) => void answer(data).then(message => scope.postMessage(message))
