// A JSON text that a person edits, for components. A worker reads a large text, so that the page stays responsive.

import { useEffect, useMemo, useState } from 'react'
import { trustedWorkerUrl } from '../../data/worker-address.ts'
import { TEXT_JOBS, type TextJob } from './text-jobs.ts'
import type { ToTextWorker } from './text-worker.ts'
import workerUrl from './text-worker.ts?worker&url'
import { LARGE_CHARS } from './veil-json.ts'

/** A large text is checked after this long without typing. */
const QUIET_MS = 300

/** Returns the fault of the text; undefined for JSON. */
export function useJsonFault(text: string): string | undefined {
  const outcome = useJob('fault', text)
  return outcome ? outcome.value : 'Checking the text'
}

/** Returns the indented text; undefined until it is known. A text that is not JSON stays as it is. */
export function usePrettyJson(text: string): string | undefined {
  return useJob('pretty', text)?.value
}

/** Returns the outcome of the job; undefined until it is known. */
function useJob(job: TextJob, text: string): { value: string | undefined } | undefined {
  const isLarge = text.length > LARGE_CHARS
  const own = useMemo(() => (isLarge ? undefined : { value: TEXT_JOBS[job](text) }), [job, text, isLarge])
  const [found, setFound] = useState<{ text: string; value: string | undefined }>()
  useEffect(() => {
    if (!isLarge) return
    let worker: Worker | undefined
    const timer = setTimeout(() => {
      worker = new Worker(trustedWorkerUrl(workerUrl), { type: 'module' })
      worker.onmessage = ({ data }: MessageEvent<string | undefined>) => {
        setFound({ text, value: data })
        worker?.terminate()
      }
      worker.postMessage({ job, text } satisfies ToTextWorker)
    }, QUIET_MS)
    return () => {
      clearTimeout(timer)
      worker?.terminate()
    }
  }, [job, text, isLarge])
  return isLarge ? (found?.text === text ? found : undefined) : own
}
