// The sentence that names a timeline row for a screen reader, and the words for ops.

import { durationText, durationWords, inWords } from '../ui/duration.ts'
import type { Fold } from './folds.ts'
import type { Bar, StepRecord } from './model.ts'

/** The word and the glyph of each op. */
export const OPS: Record<StepRecord['op'], { word: string; glyph: string }> = {
  StepRun: { word: 'step', glyph: 'ƒ' },
  Sleep: { word: 'sleep', glyph: '☾' },
  SleepUntil: { word: 'sleep until', glyph: '☾' },
  WaitForEvent: { word: 'wait for event', glyph: '⚑' },
  WaitForSignal: { word: 'wait for signal', glyph: '⚑' },
  ReplyToUpdate: { word: 'reply', glyph: '↩' },
  WaitForCallback: { word: 'callback', glyph: '⚑' },
  WaitForRun: { word: 'run', glyph: '⧗' },
  RunWorkflow: { word: 'child run', glyph: '↳' },
  StartRun: { word: 'start run', glyph: '↗' },
  CancelRun: { word: 'cancel run', glyph: '✕' },
  Emit: { word: 'emit', glyph: '◆' },
  Webhook: { word: 'webhook', glyph: '➚' },
}

/** Returns the word and the glyph of an op, even for one that this version does not know. */
export function opOf(op: string): { word: string; glyph: string } {
  return (OPS as Record<string, { word: string; glyph: string } | undefined>)[op] ?? { word: op, glyph: '•' }
}

/** Returns "2 of 5"; the limit is known once an attempt has failed. */
export function attemptsText({ attempt, maxAttempts }: Pick<Bar, 'attempt' | 'maxAttempts'>): string {
  return maxAttempts === undefined ? String(attempt) : `${attempt} of ${maxAttempts}`
}

/** Returns "charge-card, failed, attempt 2 of 5, started at 900 milliseconds, took 1.2 seconds". */
export function barName(bar: Bar): string {
  const parts = [bar.label, bar.op === 'StepRun' ? '' : opOf(bar.op).word, bar.carried ? 'carried' : '', bar.status]
  if (bar.attempt > 1 || bar.status === 'retrying') parts.push(`attempt ${attemptsText(bar)}`)
  if (bar.rollback) parts.push('has a rollback')
  if (!bar.carried) parts.push(`started at ${inWords(durationText(bar.fromMs))}`)
  if (!bar.carried && bar.toMs !== undefined && bar.op !== 'Emit' && bar.op !== 'Webhook')
    parts.push(`took ${inWords(durationText(bar.toMs - bar.fromMs))}`)
  return parts.filter(part => part !== '').join(', ')
}

/** Returns "import-row:0…9999, 10000 steps, 11 failed, half within 3 ms, 95 % within 9 ms". */
export function foldName({ label, bars, failed, open, p50Ms, p95Ms }: Fold): string {
  const parts = [label, `${bars.length} steps`, failed > 0 ? `${failed} failed` : 'none failed']
  if (open > 0) parts.push(`${open} not finished`)
  if (p50Ms !== undefined) parts.push(`median ${durationWords(p50Ms)}`)
  if (p95Ms !== undefined) parts.push(`p95 ${durationWords(p95Ms)}`)
  return parts.join(', ')
}
