// Checks the workflow of docs/flow-control.md#batch.

import { createWorkflow, type Workflow } from '@perdure/sdk'
import { testEngine } from '@perdure/sdk/testing'
import { expect } from 'vitest'
import type { Scope } from '../../kit/docs/blocks.ts'

/** Runs the workflow of the block with a batch of two kinds of events. */
export async function collects(block: (scope: Scope) => Promise<Scope>): Promise<void> {
  const removed: unknown[] = []
  const { index } = await block({ createWorkflow, search: { remove: (pages: unknown) => void removed.push(pages) } })
  await using engine = await testEngine([index as Workflow])
  await engine.send('page/removed', 'a')
  await engine.send('page/saved', 'b')
  await engine.advance('5s')
  expect(removed).toEqual([['a']])
}
