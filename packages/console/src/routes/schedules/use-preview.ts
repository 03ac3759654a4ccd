// The engine's answer to a draft: the next instants of the schedule, or the field that the engine would refuse.

import type { Input } from '@perdure/client'
import { useEffect, useState } from 'react'
import { stringify } from '../../data/json/parse.ts'
import { useWrite } from '../../data/write.ts'

/** Delay from the last key to the request. */
const QUIET_MS = 300

/** Returns undefined, without an error, until the engine has answered for this input. */
export function usePreview(input: Input<'putSchedule'> | undefined) {
  const preview = useWrite('putSchedule')
  const asked = input && stringify(input)
  const [answered, setAnswered] = useState<string>()
  const { mutate } = preview
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the input.
  useEffect(() => {
    if (input === undefined) return
    const done = () => setAnswered(asked)
    const timer = setTimeout(() => mutate(input, { onSuccess: done, onError: done }), QUIET_MS)
    return () => clearTimeout(timer)
  }, [asked, mutate])
  const isCurrent = asked !== undefined && answered === asked && !preview.isPending
  return { entry: isCurrent ? preview.data : undefined, error: isCurrent ? preview.error : null }
}
