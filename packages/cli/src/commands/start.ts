// `perdure workflows start`: starts a run of a workflow directly, without an event.

import type { inputFaults } from '@perdure/engine'
import { IF_RUNNING, type IfRunning, type StartedRun, type StartPreview } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, show } from '../command-line/commands.ts'
import { UsageError } from '../command-line/flags.ts'
import { checkWait, waitForRuns } from '../command-line/follow.ts'
import { operationCommand } from '../command-line/operation.ts'
import { attributesOf, attributesOption, jsonOption, timeoutOption, type WaitOptions } from '../command-line/options.ts'
import { stringifyDigits } from '../output/digits.ts'
import { TOKEN_TEXT, tokenLines } from '../output/run-token.ts'
import { plain } from '../output/text.ts'

type InputSchema = Parameters<typeof inputFaults>[0]

interface StartOptions extends WaitOptions {
  input?: string
  runId?: string
  key?: string
  ifRunning?: IfRunning
  attribute?: string[]
  dryRun?: true
  wait?: true
}

/** Adds `start` to `perdure workflows`. */
export function startCommand(workflows: Command): void {
  operationCommand(
    workflows,
    'start',
    {
      operation: 'startRun',
      description: 'start a run of a workflow directly, whatever its triggers are',
      examples: [
        `perdure workflows start shop fulfil-order --input '{"orderId": "4711"}' --wait`,
        'perdure workflows start shop nightly-report --run-id run_report-2026-08-01',
        'perdure workflows start shop sync-account --key account-17 --if-running refuse',
      ],
      texts: { token: TOKEN_TEXT },
      more: [
        new Option('--input <json>', 'the input: JSON, @file, or - for standard input'),
        new Option('--run-id <id>', 'id of the run: run_ and 8 to 64 letters, digits, _ or -; a repeat starts nothing'),
        new Option('--key <key>', 'key of the run: a workflow has at most one live run with it'),
        new Option('--if-running <what>', 'with --key, while a run with it is live').choices(IF_RUNNING),
        attributesOption('an attribute of the run; a number or a boolean is sent as such'),
        new Option('--dry-run', 'show what the command would do, and start nothing'),
        new Option('--wait', 'follow the run; exit with 1 if it does not succeed'),
        timeoutOption(),
      ],
      body: bodyOf,
      check: checkInput,
    },
    started,
  )
}

async function bodyOf({ options, terminal }: EngineContext<StartOptions>) {
  checkWait(options)
  const { input, runId, key, ifRunning, attribute, dryRun } = options
  const given = input === undefined ? {} : { input: await jsonOption('--input', input, terminal) }
  return { runId, key, ifRunning, dryRun, attributes: attributesOf(attribute), ...given }
}

/** Throws, with all faults, for an input that the workflow's schema refuses, as the engine would, before anything is sent. */
async function checkInput(
  { client, signal }: EngineContext<StartOptions>,
  { app, name }: { app: string; name: string },
  { input }: { input?: unknown },
): Promise<void> {
  const workflows = await client.listWorkflows({ app }, { signal })
  const schema = workflows.find(workflow => workflow.name === name)?.input as InputSchema | undefined
  if (schema === undefined) return
  const { inputFaults } = await import('@perdure/engine')
  const faults = inputFaults(schema, input === undefined ? undefined : JSON.parse(stringifyDigits(input)))
  if (faults.length > 0) throw new UsageError(faults.join('; '))
}

async function started(context: EngineContext<StartOptions>, run: StartedRun): Promise<number | undefined> {
  const { runId, dryRun, wait } = context.options
  if (!dryRun) {
    await show(context, run, () => [
      plain(`${run.id}  ${run.app}/${run.workflow}  ${run.status}${run.existing ? '  (already exists)' : ''}`),
      ...tokenLines(run),
    ])
    return wait ? waitForRuns(context, [run.id]) : undefined
  }
  // A dry run has its own reply.
  const { outcome, paused, run: earlier, liveRunId } = run as unknown as StartPreview
  const what = {
    run: 'a run would start',
    repeat: `${earlier?.id ?? runId} already exists`,
    skipped: `the start would be refused: ${liveRunId} is live`,
  }[outcome]
  return show(context, run, () => [plain(`${what}${paused ? ', and wait until the workflow is resumed' : ''}`)])
}
