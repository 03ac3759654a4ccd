// Runs the server of docs/react.md, which gives a page the token of a run. snippets.test.ts calls it.

import { createClient } from '@perdure/sdk'
import { expect } from 'vitest'
import type { Scope } from '../../kit/docs/blocks.ts'
import { flow, type OpenEngine, run } from '../../kit/index.ts'

type Handle = (request: object, response: { json(body: unknown): void }) => Promise<void>

/** Runs the block with a handmade server, and sends one request to it. */
export async function givesToken(engine: OpenEngine, block: (scope: Scope) => Promise<unknown>): Promise<void> {
  const registration = { triggers: [{ event: 'question.asked' }] }
  await engine.runner({ workflows: { 'react-answer': { handler: flow([run('one')]), registration } } })
  const handles: Handle[] = []
  const app = { post: (_path: string, handle: Handle) => handles.push(handle) }
  await block({ client: createClient({ url: engine.url }), app })
  const answers: unknown[] = []
  await handles[0]?.({ body: { text: 'why?' } }, { json: body => answers.push(body) })
  expect(answers).toEqual([{ runId: expect.any(String), token: expect.stringMatching(/^pdt_/) }])
}
