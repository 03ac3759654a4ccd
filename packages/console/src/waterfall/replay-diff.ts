// Compares a fork with its source, step by step: steps with the same hashed id are the same step. The first divergence is the
// first step of the fork that differs from its source.

import type { WaterfallStep } from './model.ts'

export type DiffKind = 'same' | 'result' | 'status' | 'slower' | 'new' | 'gone'

export interface StepDiff {
  id: string
  name: string
  kind: DiffKind
  source?: WaterfallStep
  fork?: WaterfallStep
}

/** A step is slower if it took this many times as long, and this much longer. */
const SLOWER_TIMES = 1.5
const SLOWER_MS = 50

/** Returns the text used to compare two results of a step. */
export type ResultText = (step: WaterfallStep) => string | undefined

/** Returns the steps of both runs in the fork's order; a removed step keeps its place from the source. */
export function diffSteps(
  source: readonly WaterfallStep[],
  fork: readonly WaterfallStep[],
  resultText: ResultText = ({ data }) => JSON.stringify(data),
): StepDiff[] {
  const before = new Map(source.map(step => [step.id, step]))
  const after = new Set(fork.map(({ id }) => id))
  const diffs: StepDiff[] = []
  let next = 0
  const addGone = (until: number) => {
    for (; next < until; next++) {
      const step = source[next] as WaterfallStep
      if (!after.has(step.id)) diffs.push({ id: step.id, name: step.name, kind: 'gone', source: step })
    }
  }
  const places = new Map(source.map((step, place) => [step.id, place]))
  for (const step of fork) {
    const old = before.get(step.id)
    const place = places.get(step.id)
    if (place !== undefined) addGone(place)
    const head = { id: step.id, name: step.name, fork: step }
    if (old === undefined) diffs.push({ ...head, kind: 'new' })
    else diffs.push({ ...head, source: old, kind: compareSteps(old, step, resultText) })
  }
  addGone(source.length)
  return diffs
}

function compareSteps(source: WaterfallStep, fork: WaterfallStep, resultText: ResultText): DiffKind {
  if (source.status !== fork.status) return 'status'
  if (resultText(source) !== resultText(fork) || source.error?.message !== fork.error?.message) return 'result'
  const [before, after] = [source.durationMs ?? 0, fork.durationMs ?? 0]
  return after > before * SLOWER_TIMES && after - before > SLOWER_MS ? 'slower' : 'same'
}

/** Returns the first difference that is more than a duration. */
export function firstDivergence(diffs: readonly StepDiff[]): StepDiff | undefined {
  return diffs.find(({ kind }) => kind !== 'same' && kind !== 'slower')
}
