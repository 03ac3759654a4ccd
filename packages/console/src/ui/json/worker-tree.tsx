// The tree of a large value, which a worker reads, so that the page stays responsive. Loaded on request.

import { type ReactNode, useEffect, useRef, useState } from 'react'
import { trustedWorkerUrl } from '../../data/worker-address.ts'
import { FIRST_STATE, TreeView } from './tree-view.tsx'
import type { FromWorker, ToWorker } from './tree-worker.ts'
import workerUrl from './tree-worker.ts?worker&url'

export interface WorkerTreeProps {
  text: string
  isVeiled: boolean
  label: string
  /** Shown until the worker has answered, and for a text that is not JSON. */
  instead: ReactNode
}

export default function WorkerTree({ text, isVeiled, label, instead }: WorkerTreeProps) {
  const [state, setState] = useState(FIRST_STATE)
  const [answer, setAnswer] = useState<FromWorker>()
  const send = useRef<(message: ToWorker) => void>(() => {})
  useEffect(() => {
    const worker = new Worker(trustedWorkerUrl(workerUrl), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => setAnswer(data)
    send.current = message => worker.postMessage(message)
    send.current({ text, isVeiled })
    return () => worker.terminate()
  }, [text, isVeiled])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new worker knows no state.
  useEffect(() => send.current({ state }), [state, text, isVeiled])
  if (!answer) return <div aria-busy="true">{instead}</div>
  return 'rows' in answer ? <TreeView rows={answer.rows} label={label} setState={setState} /> : instead
}
