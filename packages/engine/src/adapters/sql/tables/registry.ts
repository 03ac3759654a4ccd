// The rows of apps, runners and workflows, and the way there and back; and the row of a control action, which is
// only written so far.

import type { ControlAction } from '../../../domain/model/control-action.ts'
import type { FlowControl } from '../../../domain/model/flow-control.ts'
import type {
  App,
  Definition,
  RetryPolicy,
  Runner,
  Trigger,
  Workflow,
} from '../../../domain/model/workflow.ts'
import { boundedKey } from '../../../domain/text/bounded-key.ts'
import { type Columns, fromJson, toJson } from './columns.ts'
import type { Row } from './operations.ts'

type AppRow = [namespace: string, name: string, createdAt: number]

export const APP_COLUMNS: Columns<AppRow> = ['namespace', 'name', 'created_at']

export function appRow(app: App): AppRow {
  return [app.namespace, app.name, app.createdAt]
}

export function appFromRow(row: Row): App {
  const [namespace, name, createdAt] = row as AppRow
  return { namespace, name, createdAt }
}

type RunnerRow = [
  namespace: string,
  app: string,
  runnerId: string,
  url: string,
  workflows: string,
  framework: string | null,
  runtime: string | null,
  sdkName: string | null,
  version: string | null,
  region: string | null,
  keyFingerprint: string | null,
  lastSeenAt: number,
  definitions: string | null,
  language: string | null,
]

export const RUNNER_COLUMNS: Columns<RunnerRow> = [
  'namespace',
  'app',
  'runner_id',
  'url',
  'workflows',
  'framework',
  'runtime',
  'sdk_name',
  'version',
  'region',
  'key_fingerprint',
  'last_seen_at',
  'definitions',
  'language',
]

/** A runner without an id of its own goes by its URL, which may be too long for an index; own ids are not. */
export const runnerKey = boundedKey

export function runnerRow(runner: Runner): RunnerRow {
  return [
    runner.namespace,
    runner.app,
    runnerKey(runner.runnerId),
    runner.url,
    JSON.stringify(runner.workflows),
    runner.framework ?? null,
    runner.runtime ?? null,
    runner.sdkName ?? null,
    runner.version ?? null,
    runner.region ?? null,
    runner.keyFingerprint ?? null,
    runner.lastSeenAt,
    toJson(runner.definitions),
    runner.language ?? null,
  ]
}

export function runnerFromRow(row: Row): Runner {
  const [
    namespace,
    app,
    runnerId,
    url,
    workflows,
    framework,
    runtime,
    sdkName,
    version,
    region,
    fingerprint,
    seen,
    definitions,
    language,
  ] = row as RunnerRow
  return {
    namespace,
    app,
    runnerId: runnerId === runnerKey(url) ? url : runnerId,
    url,
    workflows: JSON.parse(workflows) as string[],
    framework: framework ?? undefined,
    runtime: runtime ?? undefined,
    language: language ?? undefined,
    sdkName: sdkName ?? undefined,
    version: version ?? undefined,
    region: region ?? undefined,
    keyFingerprint: fingerprint ?? undefined,
    lastSeenAt: seen,
    definitions: fromJson<Definition[]>(definitions),
  }
}

type WorkflowRow = [
  namespace: string,
  app: string,
  name: string,
  triggers: string,
  retry: string,
  onFailure: number,
  invokeTimeoutMs: number | null,
  flowControl: string | null,
  updatedAt: number,
]

export const WORKFLOW_COLUMNS: Columns<WorkflowRow> = [
  'namespace',
  'app',
  'name',
  'triggers',
  'retry',
  'on_failure',
  'invoke_timeout_ms',
  'flow_control',
  'updated_at',
]

export function workflowRow(workflow: Workflow): WorkflowRow {
  const { namespace, app, name, triggers, retry, onFailure, invokeTimeoutMs, flowControl, updatedAt } =
    workflow
  const defined = [JSON.stringify(triggers), JSON.stringify(retry), onFailure ? 1 : 0] as const
  return [namespace, app, name, ...defined, invokeTimeoutMs ?? null, toJson(flowControl), updatedAt]
}

export function workflowFromRow(row: Row): Workflow {
  const [namespace, app, name, triggers, retry, onFailure, invokeTimeoutMs, flowControl, updatedAt] =
    row as WorkflowRow
  return {
    namespace,
    app,
    name,
    triggers: JSON.parse(triggers) as Trigger[],
    retry: JSON.parse(retry) as RetryPolicy,
    onFailure: onFailure === 1,
    updatedAt,
    invokeTimeoutMs: invokeTimeoutMs ?? undefined,
    flowControl: fromJson<FlowControl>(flowControl),
  }
}

type ControlRow = [
  id: string,
  namespace: string,
  action: ControlAction['action'],
  runId: string | null,
  newRunId: string | null,
  actor: string | null,
  detail: string | null,
  createdAt: number,
]

export const CONTROL_COLUMNS: Columns<ControlRow> = [
  'id',
  'namespace',
  'action',
  'run_id',
  'new_run_id',
  'actor',
  'detail',
  'created_at',
]

export function controlRow({ id, namespace, action, ...rest }: ControlAction): ControlRow {
  const { runId, newRunId, actor, detail, createdAt } = rest
  return [id, namespace, action, runId ?? null, newRunId ?? null, actor ?? null, detail ?? null, createdAt]
}

export function controlFromRow(row: Row): ControlAction {
  const [id, namespace, action, runId, newRunId, actor, detail, createdAt] = row as ControlRow
  return {
    id,
    namespace,
    action,
    runId: runId ?? undefined,
    newRunId: newRunId ?? undefined,
    actor: actor ?? undefined,
    detail: detail ?? undefined,
    createdAt,
  }
}
