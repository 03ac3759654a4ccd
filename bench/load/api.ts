// Reads from the engine's API, for the checks after a workload. Not to be used during a measurement.

import { BENCH_APP } from '../rig/workflows.ts'

export interface RunSummary {
  id: string
  workflow: string
  status: string
  waitingFor?: { kind: string }
}

interface RunDetail extends RunSummary {
  finishedAt?: string
  input?: unknown
  result?: unknown
}

export async function getRun(origin: string, runId: string): Promise<RunDetail> {
  return (await (await get(origin, `/runs/${runId}`)).json()) as RunDetail
}

/** Pauses or resumes a run; false when it has already ended. */
export async function control(origin: string, runId: string, action: 'pause' | 'resume'): Promise<boolean> {
  const response = await fetch(`${origin}/runs/${runId}/${action}`, { method: 'POST' })
  if (response.status === 409) return false
  if (response.ok) return true
  throw new Error(`${action}: ${response.status} ${await response.text()}`)
}

export async function getSteps(origin: string, runId: string): Promise<{ status: string }[]> {
  return (await (await get(origin, `/runs/${runId}/steps`)).json()) as { status: string }[]
}

/** Every run of the bench, or every run of one status, page by page. */
export async function* runs(origin: string, status?: string): AsyncGenerator<RunSummary> {
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ app: BENCH_APP, limit: '200' })
    if (status !== undefined) query.set('status', status)
    if (cursor !== null) query.set('cursor', cursor)
    const response = await get(origin, `/runs?${query}`)
    yield* (await response.json()) as RunSummary[]
    cursor = response.headers.get('x-next-cursor')
  } while (cursor !== null)
}

async function get(origin: string, path: string): Promise<Response> {
  const response = await fetch(origin + path)
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
  return response
}
