// The faults of an edited text according to a schema, for components. A worker finds them, with a deadline: a schema that takes
// longer is left to the engine.

import type { ValueFault } from '@perdure/protocol/json-schema'
import { useCallback, useEffect, useRef, useState } from 'react'
import { trustedWorkerUrl } from '../../data/worker-address.ts'
import type { FaultsJob } from './faults.ts'
import type { FromFaultsWorker } from './faults-worker.ts'
import workerUrl from './faults-worker.ts?worker&url'

/** A text is checked after this long without typing. */
const QUIET_MS = 150
/** Maximum time of one check, including the start of the worker. */
const CHECK_MS_MAX = 3000

/** The result of a check. */
export interface Verdict {
  text: string
  /** Undefined: the check has taken too long. */
  faults: readonly ValueFault[] | undefined
}

export interface Faults {
  /** The result for the newest checked text. */
  verdict: Verdict | undefined
  /** Checks the text immediately. */
  check(text: string): Promise<Verdict>
}

export function useFaults(job: FaultsJob): Faults {
  const { schema, name, text } = job
  const [verdict, setVerdict] = useState<Verdict>()
  const checker = useRef<Checker>(undefined)
  const check = useCallback(
    async (text: string) => {
      checker.current ??= new Checker()
      const found = await checker.current.check({ schema, name, text })
      setVerdict(found)
      return found
    },
    [schema, name],
  )
  useEffect(() => {
    const timer = setTimeout(() => void check(text), QUIET_MS)
    return () => clearTimeout(timer)
  }, [check, text])
  useEffect(() => {
    return () => {
      checker.current?.close()
      checker.current = undefined
    }
  }, [])
  return { verdict, check }
}

/** Checks texts one after another. After a check that takes too long it stops checking. */
class Checker {
  readonly #worker = new Worker(trustedWorkerUrl(workerUrl), { type: 'module' })
  #isClosed = false
  #last: Promise<unknown> = Promise.resolve()

  check(job: FaultsJob): Promise<Verdict> {
    const next = this.#last.then(() => this.#answerTo(job))
    this.#last = next
    return next
  }

  close(): void {
    this.#isClosed = true
    this.#worker.terminate()
  }

  #answerTo(job: FaultsJob): Promise<Verdict> {
    if (this.#isClosed) return Promise.resolve({ text: job.text, faults: undefined })
    return new Promise(resolve => {
      const giveUp = () => {
        this.close()
        resolve({ text: job.text, faults: undefined })
      }
      const timer = setTimeout(giveUp, CHECK_MS_MAX)
      this.#worker.onerror = giveUp
      this.#worker.onmessage = ({ data }: MessageEvent<FromFaultsWorker>) => {
        clearTimeout(timer)
        resolve(data)
      }
      this.#worker.postMessage(job)
    })
  }
}
