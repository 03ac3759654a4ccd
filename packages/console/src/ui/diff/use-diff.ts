// The comparison of two texts, for components. A worker compares large texts, so that the page stays responsive.

import { useEffect, useMemo, useRef, useState } from 'react'
import { trustedWorkerUrl } from '../../data/worker-address.ts'
import { type Diff, type DiffJob, diffOf } from './diff-job.ts'
import workerUrl from './diff-worker.ts?worker&url'

/** Maximum size of both texts together; a worker compares larger ones. */
const OWN_CHARS_MAX = 64 * 1024
/** Large texts that change are compared after this long without a change. */
const QUIET_MS = 300

/** Returns undefined until the result is known, and the previous texts' result while the next is computed. */
export function useDiff({ before, after, isJson, isVeiled }: DiffJob): Diff | undefined {
  const isLarge = before.length + after.length > OWN_CHARS_MAX
  const job = useMemo(() => ({ before, after, isJson, isVeiled }), [before, after, isJson, isVeiled])
  const own = useMemo(() => (isLarge ? undefined : diffOf(job)), [job, isLarge])
  const [found, setFound] = useState<Diff>()
  const hasFound = useRef(false)
  useEffect(() => {
    if (!isLarge) return
    let worker: Worker | undefined
    const timer = setTimeout(
      () => {
        worker = new Worker(trustedWorkerUrl(workerUrl), { type: 'module' })
        worker.onmessage = ({ data }: MessageEvent<Diff>) => {
          hasFound.current = true
          setFound(data)
          worker?.terminate()
        }
        worker.postMessage(job)
      },
      hasFound.current ? QUIET_MS : 0,
    )
    return () => {
      clearTimeout(timer)
      worker?.terminate()
    }
  }, [job, isLarge])
  return own ?? found
}
