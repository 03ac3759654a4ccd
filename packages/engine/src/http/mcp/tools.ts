// The tools of the MCP server: operations of the API, by their ids in snake case. Each takes the same arguments as its operation,
// as one flat object. Called by messages.ts.

import { argumentSchema } from '@perdure/protocol/openapi'
import { type Operations, operations } from '@perdure/protocol/operations'

/** A tool as `tools/list` shows it. */
export interface Tool {
  name: string
  description: string
  inputSchema: Record<string, unknown>
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean }
}

interface ToolOptions {
  /** Says more than the summary of the operation. */
  about?: string
  /** The next useful call, for the end of a result. */
  next?: string
  /** Arguments that apply if none is given. */
  defaults?: Readonly<Record<string, unknown>>
  /** Arguments of the operation that the tool does not take. */
  omits?: readonly string[]
}

type ToolTable = { readonly [Id in keyof Operations]?: ToolOptions }

const FEW = { limit: 20 }

const READING: ToolTable = {
  listRuns: {
    about:
      'Finds runs: `q` with `deep` searches ids, inputs, results and errors, such as an order number; `status`, `workflow`, `attribute` and `since` narrow the list.',
    next: 'explain_run {"id": …} says why a run failed or what it waits for.',
    defaults: FEW,
  },
  getRun: { next: 'explain_run {"id": …} says why; list_run_steps {"id": …} shows its steps.' },
  explainRun: {
    about: 'The first call for "why": how a run ended, or what it waits for and until when.',
    next: 'list_run_steps {"id": …} shows its steps and errors. A run that failed: replay_run or retry_run_from_step.',
  },
  listRunSteps: { next: 'get_run_step {"id": …, "stepId": …} has the attempts of a step.', defaults: FEW },
  getRunStep: {},
  listRunPasses: { defaults: FEW },
  listRunLogs: { defaults: { limit: 50 } },
  listRunStreams: { next: 'read_run_stream {"id": …, "name": …} reads one, without withdrawn chunks.' },
  readRunStream: {
    about: 'By default the text, without withdrawn chunks; `text: false` gives the messages from `offset` on.',
    defaults: { text: true },
    omits: ['live', 'cursor'],
  },
  getRunTree: {},
  getRunStats: {},
  getRunSeries: {},
  getWorkflowStats: {},
  listErrors: {
    about: 'The first call for "what is broken": failed runs by cause.',
    next: 'list_runs {"error": <fingerprint>} lists the runs of a group.',
    defaults: FEW,
  },
  listEvents: {
    next: 'explain_event {"id": …} says what an event started, and why it started nothing.',
    defaults: FEW,
  },
  listEventNames: {},
  getEvent: { next: 'explain_event {"id": …} says what it started.' },
  explainEvent: {},
  getEventTree: {},
  listScheduledEvents: { defaults: FEW },
  listSchedules: { defaults: FEW },
  listLimits: { defaults: FEW },
  listBuffers: { defaults: FEW },
  listWorkflows: {},
  listDefinitions: { defaults: { limit: 5 } },
  listRunners: {},
  listWebhookDeliveries: { defaults: FEW },
  listControlActions: { about: 'The audit log: who did what.', defaults: FEW },
  listRunSignals: {},
  listBulks: { defaults: FEW },
  getBulk: { defaults: FEW },
  listEngines: {},
}

const PREVIEW = 'By default nothing changes, and the result shows what would happen: pass `dryRun: false` to do it.'

const WRITING: ToolTable = {
  sendEvent: { about: PREVIEW, next: 'get_run {"id": …} reads a run that it started.', defaults: { dryRun: true } },
  startRun: {
    about: '`dryRun: true` shows what would happen.',
    next: 'get_run {"id": …} reads the run.',
  },
  signalRun: {},
  updateRun: {},
  cancelRun: {},
  pauseRun: {},
  resumeRun: {},
  replayRun: { next: 'get_run {"id": …} reads the new run.' },
  retryRunFromStep: { next: 'get_run {"id": …} reads the new run.' },
  settleStep: {},
  startBulk: {
    about: PREVIEW,
    next: 'get_bulk {"id": …} shows how far the job is; stop_bulk stops it.',
    defaults: { dryRun: true },
  },
  stopBulk: {},
}

/** Operations that cannot be undone. */
const DESTRUCTIVE = new Set(['cancelRun', 'settleStep', 'startBulk'])

/** One tool with its operation. */
export interface ToolEntry extends ToolOptions {
  id: keyof Operations
  tool: Tool
  writes: boolean
}

const entries = new Map<string, ToolEntry>()

function add(table: ToolTable, writes: boolean): void {
  for (const [key, options] of Object.entries(table)) {
    const id = key as keyof Operations
    const { summary } = operations[id]
    const name = id.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
    const tool: Tool = {
      name,
      description: [`${summary}.`, options.about].filter(Boolean).join(' '),
      inputSchema: without(argumentSchema(operations[id], options.defaults), options.omits),
      annotations: { readOnlyHint: !writes, ...(writes && { destructiveHint: DESTRUCTIVE.has(id) }) },
    }
    entries.set(name, { ...options, id, tool, writes })
  }
}

function without(schema: Record<string, unknown>, omitted: readonly string[] = []): Record<string, unknown> {
  const properties = Object.entries(schema.properties as object).filter(([name]) => !omitted.includes(name))
  return { ...schema, properties: Object.fromEntries(properties) }
}

add(READING, false)
add(WRITING, true)

/** The tools of a caller. Tools that write are included only if it may write. */
export function toolsOf(mayWrite: boolean): Tool[] {
  return [...entries.values()].filter(({ writes }) => mayWrite || !writes).map(({ tool }) => tool)
}

/** Returns the tool with this name, if the caller may call it. */
export function findTool(name: string, mayWrite: boolean): ToolEntry | undefined {
  const found = entries.get(name)
  return found && (mayWrite || !found.writes) ? found : undefined
}
