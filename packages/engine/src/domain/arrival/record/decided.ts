// Collects the facts about a decision on an event beyond `triggered` and `woke` (docs/events.md#why-an-event-did-what-it-did).
// For an event that meets every trigger of its name there are none, so its row stores nothing. Called by fanout.ts.

import { cutText, type MatchValues } from '@perdure/protocol'
import type { Decided, StartEntry, UnmetTrigger } from '../../model/event.ts'
import type { Workflow } from '../../model/workflow.ts'

/** Maximum length of everything that is stored for one event, in characters; the rest is counted. */
export const DECIDED_CHARS_MAX = 8192
/** Maximum length of one expression or error. */
const TEXT_CHARS_MAX = 500
/** Maximum number of woken runs that are stored. */
const WOKEN_MAX = 50

export class DecidedDraft {
  #decided: Decided | undefined
  #chars = 0

  /** Records that the workflow has a trigger for the event's name, but the event does not meet it. */
  unmet({ name, app }: Workflow, { event, unmet, error }: UnmetTrigger): void {
    const entry = [
      name,
      app,
      event,
      typeof unmet === 'string' ? cutText(unmet, TEXT_CHARS_MAX, '…') : shownMatch(unmet),
      ...(error === undefined ? [] : [cutText(error, TEXT_CHARS_MAX, '…')]),
    ]
    const texts = entry.map(part => (typeof part === 'string' ? part : JSON.stringify(part)))
    this.#keep(texts, decided => {
      decided.unmet ??= []
      decided.unmet.push(entry as StartEntry)
    })
  }

  warning(sentence: string): void {
    const kept = cutText(sentence, TEXT_CHARS_MAX, '…')
    this.#keep([kept], decided => {
      decided.warnings ??= []
      decided.warnings.push(kept)
    })
  }

  /** Records the runs that the event wakes, and how many waited for its name. */
  waits(woken: readonly { runId: string; stepIndex: number }[], waited: number): void {
    if (woken.length > 0) this.#all.woken = woken.slice(0, WOKEN_MAX).map(({ runId, stepIndex }) => [runId, stepIndex])
    if (waited > woken.length) this.#all.waited = waited
  }

  suspended(): void {
    this.#all.suspended = true
  }

  /** Records the parts of the sent event that the log row does not show. */
  sentWith({
    targetApp,
    runner,
    attributes,
    notFor,
  }: { [Name in 'targetApp' | 'runner' | 'attributes' | 'notFor']: Decided[Name] | undefined }): void {
    if (targetApp !== undefined) this.#all.targetApp = targetApp
    if (runner !== undefined) this.#all.runner = runner
    if (attributes !== undefined) this.#all.attributes = attributes
    if (notFor !== undefined) this.#all.notFor = notFor
  }

  /** Undefined if there are no such facts. */
  get decided(): Decided | undefined {
    return this.#decided
  }

  get #all(): Decided {
    this.#decided ??= {}
    return this.#decided
  }

  #keep(texts: readonly string[], add: (decided: Decided) => void): void {
    const chars = texts.reduce((sum, text) => sum + text.length, 0)
    if (this.#chars + chars > DECIDED_CHARS_MAX) {
      this.#all.left = (this.#all.left ?? 0) + 1
      return
    }
    this.#chars += chars
    add(this.#all)
  }
}

/** The match, or the first of its values that fit. */
function shownMatch(match: MatchValues): MatchValues {
  const entries = Object.entries(match)
  while (JSON.stringify(Object.fromEntries(entries)).length > TEXT_CHARS_MAX) entries.pop()
  return Object.fromEntries(entries)
}
