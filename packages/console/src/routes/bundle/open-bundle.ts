// Opens a bundle file: a small one in the page, a large one in a worker, so that the page stays responsive.

import { trustedWorkerUrl } from '../../data/worker-address.ts'
import { LARGE_CHARS } from '../../ui/json/veil-json.ts'
import type { FromBundleWorker } from './bundle-worker.ts'
import workerUrl from './bundle-worker.ts?worker&url'
import { unpackBundle } from './packed.ts'
import { type BundleView, readBundle } from './read-bundle.ts'

/** Larger files are refused before they are read. */
const BYTES_MAX = 64 * 1024 * 1024

/** Returns the run in the file. Rejects with a sentence for the user if the file is not a bundle. */
export async function openBundle(file: File): Promise<BundleView> {
  if (file.size > BYTES_MAX) throw new Error('The file is larger than 64 MiB.')
  if (file.size <= LARGE_CHARS) return readBundle(await file.text())
  const worker = new Worker(trustedWorkerUrl(workerUrl), { type: 'module' })
  try {
    const answer = await new Promise<FromBundleWorker>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FromBundleWorker>) => resolve(data)
      worker.onerror = () => reject(new Error('Could not read the file.'))
      worker.postMessage(file)
    })
    if ('fault' in answer) throw new Error(answer.fault)
    return unpackBundle(answer.bundle)
  } finally {
    worker.terminate()
  }
}
