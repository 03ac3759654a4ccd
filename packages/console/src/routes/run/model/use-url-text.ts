// A text that is typed on the page of a run and kept in its URL.

import { useEffect, useRef, useState } from 'react'
import { useQuery } from '../../../router/router.tsx'
import type { QueryName } from '../../../router/routes.ts'

/** Delay before the URL follows the typing: every change of the URL redraws the page. */
const URL_MS = 300

/** Returns the text and a function that changes it, like `useState`. */
export function useUrlText(name: QueryName<'run'>): [string, (text: string) => void] {
  const [get, set] = useQuery('run')
  const inUrl = get(name) ?? ''
  const [text, setText] = useState(inUrl)
  /** The text that was last written into the URL or read from it. */
  const known = useRef(inUrl)
  useEffect(() => {
    if (inUrl === known.current) return
    known.current = inUrl
    setText(inUrl)
  }, [inUrl])
  useEffect(() => {
    if (text === known.current) return
    const timer = setTimeout(() => {
      known.current = text
      set({ [name]: text })
    }, URL_MS)
    return () => clearTimeout(timer)
  }, [text, name, set])
  return [text, setText]
}
