// The pages in which the steps of a run are read, and the pages that do not need to be read again. Pure.

import type { Page } from '@perdure/client'
import { isSettledStep, type WaterfallStep } from '../../../waterfall/model.ts'

/** One page in the form of the engine's answer. */
export type StepPage = Page<WaterfallStep>

/** The steps of a run that have been read, in execution order, without their results. */
export interface StepList {
  steps: readonly WaterfallStep[]
  /** Whether these are all steps. */
  isWhole: boolean
  /** The pages that contained them. */
  pages: readonly StepPage[]
}

/** Returns the list of these pages, at least one. */
export function listOf(pages: readonly StepPage[]): StepList {
  const [first] = pages
  const steps = pages.length === 1 ? (first as StepPage).items : pages.flatMap(({ items }) => items)
  return { steps, isWhole: pages.at(-1)?.nextCursor === undefined, pages: [...pages] }
}

/** Returns the first pages of an earlier read that cannot have changed: they are full, and all their steps have settled. */
export function unchangedPages({ pages }: Pick<StepList, 'pages'>): StepPage[] {
  const changing = pages.findIndex(
    ({ items, nextCursor }) => nextCursor === undefined || items.some(({ status }) => !isSettledStep(status)),
  )
  return pages.slice(0, changing === -1 ? pages.length : changing)
}
