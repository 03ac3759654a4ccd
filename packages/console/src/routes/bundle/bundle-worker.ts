// The worker for one large bundle: reads the file, and answers with the run, or with the reason why it is not a bundle.

import { type PackedBundle, packBundle } from './packed.ts'
import { readBundle } from './read-bundle.ts'

export type FromBundleWorker = { bundle: PackedBundle } | { fault: string }

interface Scope {
  onmessage: ((event: MessageEvent<File>) => void) | null
  postMessage(message: FromBundleWorker): void
}

const scope = self as unknown as Scope

async function answer(file: File): Promise<FromBundleWorker> {
  try {
    return { bundle: packBundle(readBundle(await file.text())) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

scope.onmessage = ({ data }) => void answer(data).then(message => scope.postMessage(message))
