// A text that is typed on the page of a run and that its URL has.

import { useEffect, useRef, useState } from 'react'
import { useQuery } from '../../../router/router.tsx'
import type { QueryName } from '../../../router/routes.ts'

/** The URL follows what is typed after this pause: every change of it draws the page anew. */
const URL_MS = 300

/** The text and the way to change it, as of `useState`. */
export function useUrlText(name: QueryName<'run'>): [string, (text: string) => void] {
  const [get, set] = useQuery('run')
  const inUrl = get(name) ?? ''
  const [text, setText] = useState(inUrl)
  /** The text that was written into the URL or read from it last. */
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
