// Workflows as tools (docs/mcp.md#workflows-as-tools): a call starts a run, reports its progress, and waits for its end, but not
// for ever. Called by messages.ts.

import type { RunResult, WorkflowDefinition } from '@perdure/protocol'
import { cutText } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import { resultOf, type ToolResult, textResult } from './result.ts'
import { findTool, type Tool } from './tools.ts'

/** How long a call waits for the end of its run. Clients give up after 60 s. */
const WAIT_MS_MAX = 50_000
/** Time between two looks at the progress of the run, and at whether the caller is still there. */
const LOOK_MS = 1000
const NAME_CHARS_MAX = 64
const PROGRESS_CHARS_MAX = 1000

/** The part of a caller that a call needs. */
export interface WorkflowCaller {
  headers: Record<string, string>
  /** Aborted when the caller has left. */
  signal: AbortSignal
  /** Reports progress; absent if the caller did not request it. */
  report?: ((message: string) => Promise<void>) | undefined
}

interface WorkflowTool {
  tool: Tool
  app: string
  workflow: string
}

/** The workflows of the namespace that are tools, each with its own name. */
export async function workflowTools(app: FastifyInstance, { headers }: WorkflowCaller): Promise<WorkflowTool[]> {
  const reply = await app.inject({ method: 'GET', url: '/workflows', headers })
  if (reply.statusCode !== 200) return []
  const taken = new Set<string>()
  return (JSON.parse(reply.body) as WorkflowDefinition[]).flatMap(
    ({ app: ofApp, name: workflow, tool, input, description }) => {
      if (!tool || !input) return []
      const name = freeName(workflow, taken)
      taken.add(name)
      const text = description ?? `Starts a run of the workflow ${workflow} of the app ${ofApp}.`
      const shown: Tool = { name, description: text, inputSchema: input, annotations: { readOnlyHint: false } }
      return { tool: shown, app: ofApp, workflow }
    },
  )
}

function freeName(workflow: string, taken: ReadonlySet<string>): string {
  const plain = workflow.replace(/[^A-Za-z0-9_-]/gu, '_')
  let name = cutText(plain, NAME_CHARS_MAX)
  for (let n = 2; ; n++) {
    if (!taken.has(name) && !findTool(name, true)) return name
    const end = `_${n}`
    name = cutText(plain, NAME_CHARS_MAX - end.length) + end
  }
}

/** Starts a run and waits for it; returns undefined if no workflow is a tool with this name. */
export async function callWorkflow(
  app: FastifyInstance,
  { name, given }: { name: string; given: object },
  caller: WorkflowCaller,
): Promise<ToolResult | undefined> {
  const found = (await workflowTools(app, caller)).find(({ tool }) => tool.name === name)
  if (!found) return undefined
  const { tool, app: ofApp, workflow } = found
  const { headers } = caller
  const started = await app.inject({
    method: 'POST',
    url: `/workflows/${encodeURIComponent(ofApp)}/${encodeURIComponent(workflow)}/runs`,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: JSON.stringify({ input: given }),
  })
  if (started.statusCode >= 400) return resultOf({ status: started.statusCode, body: started.body }, { tool })
  const { id } = JSON.parse(started.body) as { id: string }
  return endOf(app, { id, tool }, caller)
}

async function endOf(
  app: FastifyInstance,
  { id, tool }: { id: string; tool: Tool },
  { headers, signal, report }: WorkflowCaller,
): Promise<ToolResult> {
  const next = `get_run {"id": "${id}"} reads the run later, explain_run says what it waits for.`
  let shown = ''
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX && !signal.aborted; waitedMs += LOOK_MS) {
    const read = await app.inject({ method: 'GET', url: `/runs/${id}/result?wait=${LOOK_MS}ms`, headers })
    if (read.statusCode === 200) return ended(read.body, { tool, next })
    if (read.statusCode !== 202) return resultOf({ status: read.statusCode, body: read.body }, { tool, next })
    shown = await reportProgress(app, { id, headers, report, shown })
  }
  return textResult(`The run ${id} has not ended after ${WAIT_MS_MAX / 1000} s and continues.\nNext: ${next}`)
}

/** Returns the result of a run that has ended. A failed run is an error of the tool. */
function ended(body: string, about: { tool: Tool; next: string }): ToolResult {
  const { status } = JSON.parse(body) as RunResult
  return { ...resultOf({ status: 200, body }, about), ...(status !== 'succeeded' && { isError: true as const }) }
}

/** Reports the newest progress, unless it was already shown. Returns the progress shown. */
async function reportProgress(
  app: FastifyInstance,
  { id, headers, report, shown }: { id: string; shown: string } & Pick<WorkflowCaller, 'headers' | 'report'>,
): Promise<string> {
  if (!report) return shown
  const read = await app.inject({ method: 'GET', url: `/runs/${id}`, headers })
  const { progress } = JSON.parse(read.body) as { progress?: { value: unknown } }
  if (progress === undefined) return shown
  const message = JSON.stringify(progress.value)
  if (message === shown) return shown
  await report(cutText(`Progress of the run, as data: ${message}`, PROGRESS_CHARS_MAX, '…'))
  return message
}
