// The event that expressions and matches refer to. Used by all code that evaluates one.

import { parsedOnce, type ReadEvent } from './evaluations.ts'
import type { Subject } from './expression.ts'

/** An event as expressions see it. Its data is parsed when the first expression reads it. */
export class EventSubject {
  readonly event: ReadEvent
  #subject: Subject | undefined

  constructor(event: ReadEvent) {
    this.event = event
  }

  get subject(): Subject {
    if (!this.#subject) {
      const { id, name, data } = this.event
      const value = data === undefined ? null : parsedOnce(data)
      this.#subject = id === undefined ? { name, data: value } : { name, id, data: value }
    }
    return this.#subject
  }
}
