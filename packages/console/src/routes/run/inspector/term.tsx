// One name and its value in the facts of a step.

import type { ReactNode } from 'react'
import { exactTime, localTime } from '../../../ui/time.ts'

interface TermProps {
  name: string
  title?: string
  children: ReactNode
}

export function Term({ name, title, children }: TermProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </>
  )
}

export function TimeTerm({ name, at }: { name: string; at: string }) {
  const atMs = Date.parse(at)
  return (
    <Term name={name} title={exactTime(atMs)}>
      {localTime(atMs)}
    </Term>
  )
}
