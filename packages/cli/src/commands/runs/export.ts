// `perdure runs export`: writes a run with everything that belongs to it as one JSON document, unchanged.

import { open } from 'node:fs/promises'
import { createClient } from '@perdure/client'
import { type Command, Option } from 'commander'
import { type EngineContext, type EngineOptions, engineCommand } from '../../command-line/commands.ts'
import { UsageError } from '../../command-line/flags.ts'
import { wholeId } from '../../command-line/ids.ts'

interface ExportOptions extends EngineOptions {
  payloads: boolean
  output?: string
}

/** How long a long bundle may take. */
const TIMEOUT_MS = 150_000

/** Adds `export` to `perdure runs`. */
export function exportCommand(runs: Command): void {
  const command = runs
    .command('export <id>')
    .description('write a run with its steps, timeline, logs and passes as one JSON document; secrets are redacted')
    .option('--no-payloads', 'write null instead of input, results, data of events and fields of log lines')
    .addOption(new Option('-o, --output <file>', 'write to a new file instead of the standard output'))
  engineCommand<ExportOptions>(
    command,
    ['perdure runs export run_01K... > run.json', 'perdure runs export run_01K... --no-payloads --output run.json'],
    async (context, given = '') => {
      const { options, terminal } = context
      const id = await wholeId(context, given)
      const text = await bundleOf(context, id)
      if (options.output === undefined) await terminal.out(text.trimEnd())
      else await writeNew(options.output, text)
      const { truncated } = JSON.parse(text) as { truncated?: { section: string } }
      if (truncated) terminal.say(`the bundle is incomplete: it ends in the section ${truncated.section}`)
      return undefined
    },
  )
}

/** The text exactly as the engine sent it: parsing it would lose digits of numbers. */
async function bundleOf({ options, signal }: EngineContext<ExportOptions>, id: string): Promise<string> {
  const { engines, apiKey } = options
  const asText = { parse: (text: string) => text, stringify: JSON.stringify }
  const client = createClient({ url: engines, apiKey: apiKey || undefined, json: asText })
  const payloads = options.payloads ? '1' : '0'
  const text: unknown = await client.getRunBundle({ id, payloads }, { signal, timeoutMs: TIMEOUT_MS })
  return text as string
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--output: ${error.code === 'EEXIST' ? `${path} exists` : error.message}`)
  })
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}
