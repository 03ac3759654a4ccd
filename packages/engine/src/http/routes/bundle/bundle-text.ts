// Writes a bundle (docs/concepts.md#bundles): one JSON document with a run and everything that belongs to it, in pieces as the
// store is read. Secrets are redacted throughout. Called by bundle.ts.

import type { Bundle } from '@perdure/protocol'
import { ENGINE_VERSION } from '../../../base/version.ts'
import type { Event } from '../../../domain/model/event.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { redactFields } from '../../../domain/text/redact.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { attemptsOf } from '../../../domain/view/step-attempts.ts'
import { frameText } from '../../../domain/view/timeline-frames.ts'
import type { Reads, RunView } from '../../../ports/store-reads.ts'
import type { Passes } from '../../../services/run/passes.ts'
import { Timeline } from '../../live/timeline.ts'
import { eventText } from '../event/present-event.ts'
import { logLineText, runText } from '../run/present.ts'
import { stepDetailText } from '../run/present-step.ts'
import { passRecord } from '../run/run-passes.ts'

/** Room for the end of the document. */
const END_BYTES = 256
const PAGE_STEPS = 100
const PAGE_FRAMES = 500
const PAGE_LINES = 500
/** Every page looks at all of the run's later passes, so pages are large. */
const PAGE_PASSES = 1000

export interface BundleParts {
  namespace: string
  run: RunView
  event: Event | undefined
  /** The definition of the run's workflow as the API shows it, if there is one. */
  workflow: Bundle['workflow']
  runners: Bundle['versions']['runners']
  reads: Reads
  passes: Passes
  exportedAt: number
  /** False: payloads are null. */
  payloads: boolean
  /** The document ends before the section that would make it longer than this. */
  bytesMax: number
  /** Aborted when nobody needs the rest. */
  signal: AbortSignal
  onFault(error: unknown): void
}

type Section = NonNullable<Bundle['truncated']>['section']

/** The pieces of the document. It is whole JSON even if it stops early. */
export async function* bundleText(parts: BundleParts): AsyncGenerator<string, void, undefined> {
  const sections: [Section, () => AsyncGenerator<JsonText>][] = [
    ['steps', () => steps(parts)],
    ['timeline', () => frames(parts)],
    ['logs', () => logs(parts)],
    ['passes', () => passes(parts)],
  ]
  const head = headText(parts)
  let left = parts.bytesMax - END_BYTES - Buffer.byteLength(head)
  yield head
  for (const [section, read] of sections) {
    let separator = `,"${section}":[`
    let truncated: 'size' | 'unreadable' | undefined
    try {
      for await (const item of read()) {
        const piece = separator + redactFields(item)
        left -= Buffer.byteLength(piece)
        if (left < 0) {
          truncated = 'size'
          break
        }
        yield piece
        separator = ','
      }
    } catch (error) {
      if (parts.signal.aborted) throw error
      parts.onFault(error)
      truncated = 'unreadable'
    }
    yield separator === ',' ? ']' : `${separator}]`
    if (truncated === undefined) continue
    yield `,"truncated":${JSON.stringify({ section, reason: truncated })}`
    break
  }
  yield '}\n'
}

/** Everything before the lists, without the closing bracket. */
function headText({ run, event, workflow, runners, exportedAt, payloads }: BundleParts): string {
  const { input, result, progress } = run
  const veiled = payloads
    ? run
    : { ...run, input: veil(input), result: veil(result), progress: progress && { ...progress, value: 'null' } }
  const members = [
    '"perdure-bundle":1',
    `"exportedAt":"${timestamp(exportedAt)}"`,
    `"payloads":${payloads}`,
    `"run":${redactFields(runText(veiled))}`,
    ...(event ? [`"event":${redactFields(eventText(payloads ? event : { ...event, data: veil(event.data) }))}`] : []),
    ...(workflow ? [`"workflow":${redactFields(JSON.stringify(workflow))}`] : []),
    `"versions":${JSON.stringify({ engine: ENGINE_VERSION, runners } satisfies Bundle['versions'])}`,
  ]
  return `{${members.join(',')}`
}

function veil(payload: JsonText | undefined): JsonText | undefined {
  return payload === undefined ? undefined : 'null'
}

async function* steps({ run, reads, payloads }: BundleParts): AsyncGenerator<JsonText> {
  for (let after = -1; ; ) {
    const page = await reads.steps(run.id, { after, limit: PAGE_STEPS, withoutData: !payloads })
    for (const step of page) {
      // The row of a step that did not fail has everything about its only attempt.
      const frames = step.attempt > 1 || step.error ? (await reads.step(run.id, step.id))?.frames : undefined
      const shown = payloads || step.status !== 'succeeded' ? step : { ...step, data: 'null' }
      yield stepDetailText(shown, attemptsOf(step, frames ?? []))
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE_STEPS) return
    after = last.index
  }
}

/** The frames of the timeline except log lines, which have their own section. */
async function* frames({ run, reads, payloads }: BundleParts): AsyncGenerator<JsonText> {
  const timeline = new Timeline({ reads, runId: run.id, limit: PAGE_FRAMES }, 0)
  for (;;) {
    const page = await timeline.read()
    for (const frame of page.frames) {
      if (frame.kind === 'log') continue
      yield frameText(payloads || frame.kind !== 'progress' ? frame : { ...frame, value: 'null' })
    }
    if (!page.more) return
  }
}

async function* logs({ run, reads, payloads }: BundleParts): AsyncGenerator<JsonText> {
  for (let from = 0; ; ) {
    const page = await reads.logs(run.id, { from, limit: PAGE_LINES })
    for (const line of page) {
      const { fields, ...rest } = line
      yield logLineText(payloads || fields === undefined ? line : { ...rest, fields: 'null' })
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE_LINES) return
    from = last.seq
  }
}

async function* passes({ namespace, run, passes: all }: BundleParts): AsyncGenerator<JsonText> {
  for (let after = 0; ; ) {
    const page = await all.list({ namespace, runId: run.id }, { after, limit: PAGE_PASSES })
    for (const pass of page?.passes ?? []) yield JSON.stringify(passRecord(pass))
    const last = page?.passes.at(-1)
    if (!page?.more || !last) return
    after = last.pass
  }
}
