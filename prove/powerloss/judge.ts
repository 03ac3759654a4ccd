// Judges the files that a power loss left: an engine on them has every event and step result that anybody outside knew before the
// cut, runs continue to their end, and no step with a known result runs again.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StepRecord } from '@perdure/protocol'
import { openEngine } from '../../test/kit/engine/engine-in-process.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { type OpenEngine, stepId, until } from '../../test/kit/index.ts'
import { type PowerLoss, rebuild } from './disk.ts'
import type { Recording } from './record.ts'

const ENDS_MS_MAX = 20_000

interface Known {
  /** Event ids and run ids that were acknowledged. */
  accepted: { eventId: string; runId: string }[]
  /** By run: the results that invokes have carried, by step id, as JSON. */
  results: Map<string, Readonly<Record<string, string>>>
}

export interface Judged {
  problems: string[]
  accepted: number
  results: number
}

export async function judge(recording: Recording, loss: PowerLoss): Promise<Judged> {
  const known = knownBefore(recording, loss.cut)
  const files = rebuild(recording.operations, loss)
  const folder = mkdtempSync(join(tmpdir(), 'perdure-powerloss-'))
  const storeFile = join(folder, recording.fileName)
  for (const [name, content] of files) writeFileSync(join(folder, name), content)
  const problems: string[] = []
  try {
    // A store whose creation was interrupted does not count as a store, and has no violations.
    if (known.accepted.length > 0)
      problems.push(...(await violations(`sqlite:${storeFile}`)).map(v => JSON.stringify(v)))
    recording.record.forget()
    const engine = await openEngine({ storeFile })
    problems.push(...(await differences(engine, recording, known)))
    await engine.stop()
    problems.push(...engine.takeErrors())
  } catch (error) {
    problems.push(String(error))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const where = `cut before operation ${loss.cut}, unsynced writes ${loss.unsynced}`
  return {
    problems: problems.map(problem => `${where}: ${problem}`),
    accepted: known.accepted.length,
    results: [...known.results.values()].reduce((sum, results) => sum + Object.keys(results).length, 0),
  }
}

/** Returns everything that the engine had made known outside before the cut. */
function knownBefore({ operations }: Recording, cut: number): Known {
  const known: Known = { accepted: [], results: new Map() }
  for (const operation of operations.slice(0, cut)) {
    if (operation.kind === 'accepted') known.accepted.push(operation)
    else if (operation.kind === 'invoked') known.results.set(operation.runId, operation.results)
  }
  return known
}

async function differences({ api }: OpenEngine, recording: Recording, known: Known): Promise<string[]> {
  const problems: string[] = []
  for (const { eventId, runId } of known.accepted) {
    const { status, json } = await api.get(`/events/${eventId}`)
    const token = (json as { data?: { token?: string } } | undefined)?.data?.token
    if (status !== 200) problems.push(`the acknowledged event ${eventId} is lost (${status})`)
    else if (token !== recording.tokens.get(eventId)) problems.push(`event ${eventId} has the token ${token}`)
    const run = await api.get(`/runs/${runId}`)
    if (run.status !== 200) problems.push(`run ${runId} of the acknowledged event ${eventId} is lost (${run.status})`)
  }
  if (problems.length > 0) return problems
  for (const [runId, results] of known.results) {
    const steps = (await api.get(`/runs/${runId}/steps`)).json as StepRecord[]
    for (const [id, result] of Object.entries(results)) {
      const now = JSON.stringify(steps.find(step => step.id === id)?.data)
      if (now !== result) problems.push(`run ${runId}: step ${id} had another result before the power loss`)
    }
  }
  for (const { runId } of known.accepted) {
    const ended = until(async () => (await api.run(runId)).status === 'succeeded', { deadlineMs: ENDS_MS_MAX })
    await ended.catch(() => problems.push(`run ${runId} does not end`))
  }
  for (const { runId, name } of recording.record.executed) {
    if (known.results.get(runId)?.[stepId(name)] !== undefined) problems.push(`run ${runId}: step ${name} ran again`)
  }
  return problems
}
