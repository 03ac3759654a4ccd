// The streams of many runs, their progress, events and deliveries, by what they show. Streams with the same topics, filters and
// interval form a group, which sends the last state and progress of each run, and the last state of each delivery, once per
// interval. A frame is encoded once for all groups. Used by routes/operating/stream.ts.

import type { Delivery } from '../../domain/model/delivery.ts'
import type { Event } from '../../domain/model/event.ts'
import type { RunUpdate } from '../../domain/view/run-updates.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Live, ProgressMove, Topic } from '../../services/live/live.ts'
import { Broadcast, FRAME_BYTES, lazyMessage, type Message, type Sink } from './broadcast.ts'
import { gapMessage } from './gap.ts'

/** Topics of a whole namespace. */
export const NAMESPACE_TOPICS = ['runs', 'events', 'deliveries'] as const
export type NamespaceTopic = (typeof NAMESPACE_TOPICS)[number]

export interface Selection {
  namespace: string
  topics: readonly NamespaceTopic[]
  app?: string | undefined
  /** Narrows only the runs. */
  workflow?: string | undefined
  everyMs: number
}

interface Encoders {
  run(update: RunUpdate): string
  progress(progress: ProgressMove): string
  event(event: Event): string
  delivery(delivery: Delivery): string
}

export interface TopicGroupsDeps {
  live: Pick<Live, 'updates' | 'progress' | 'events' | 'deliveries' | 'onGap'>
  clock: Pick<Clock, 'after' | 'now'>
  encoders: Encoders
}

interface Group {
  topics: readonly NamespaceTopic[]
  broadcast: Broadcast
  stopListening: () => void
}

export class TopicGroups {
  readonly #deps: TopicGroupsDeps
  readonly #groups = new Map<string, Group>()
  /** The message of each published item, as long as a group has it. */
  readonly #messages = new WeakMap<object, Message>()

  constructor(deps: TopicGroupsDeps) {
    this.#deps = deps
    deps.live.onGap(() => {
      for (const { broadcast, topics } of this.#groups.values())
        if (topics.length > 0) broadcast.send(gapMessage(deps.clock))
    })
  }

  /** Sends the stream everything that the selection matches from now on, until the returned function is called. */
  join(selection: Selection, stream: Sink): () => void {
    const { namespace, topics, app = null, workflow = null, everyMs } = selection
    const key = JSON.stringify([namespace, [...topics].sort(), app, workflow, everyMs])
    const group = this.#groups.get(key) ?? this.#open(selection)
    this.#groups.set(key, group)
    group.broadcast.add(stream)
    return () => {
      group.broadcast.remove(stream)
      if (group.broadcast.size > 0 || this.#groups.get(key) !== group) return
      this.#groups.delete(key)
      group.stopListening()
      group.broadcast.close()
    }
  }

  #open(selection: Selection): Group {
    const { live, clock, encoders } = this.#deps
    const { namespace, topics, app, workflow, everyMs } = selection
    const broadcast = new Broadcast({ clock, everyMs })
    const ofApp = (item: { app?: string }) => app === undefined || item.app === app
    const listen = <T extends object>(
      topic: Topic<T>,
      matches: (item: T) => boolean,
      messageOf: (item: T) => Message,
    ) =>
      topic.on(
        namespace,
        item => {
          if (matches(item)) broadcast.send(this.#once(item, messageOf))
        },
        () => 0,
      )
    const listeners: Record<NamespaceTopic, () => () => void> = {
      runs: () => {
        const matches = (item: RunUpdate | ProgressMove) =>
          ofApp(item) && (workflow === undefined || item.workflow === workflow)
        const stops = [
          listen(live.updates, matches, update => lazyMessage(() => encoders.run(update), { key: update.runId })),
          listen(live.progress, matches, progress => {
            const size = FRAME_BYTES + progress.value.length
            return lazyMessage(() => encoders.progress(progress), { key: `progress:${progress.runId}`, size })
          }),
        ]
        return () => {
          for (const stop of stops) stop()
        }
      },
      events: () =>
        listen(live.events, ofApp, event =>
          lazyMessage(() => encoders.event(event), { size: FRAME_BYTES + (event.data?.length ?? 0) }),
        ),
      deliveries: () =>
        listen(live.deliveries, ofApp, delivery =>
          lazyMessage(() => encoders.delivery(delivery), { key: delivery.id }),
        ),
    }
    const stops = topics.map(topic => listeners[topic]())
    const stopListening = () => {
      for (const stop of stops) stop()
    }
    return { topics, broadcast, stopListening }
  }

  #once<T extends object>(item: T, messageOf: (item: T) => Message): Message {
    const known = this.#messages.get(item)
    if (known) return known
    const message = messageOf(item)
    this.#messages.set(item, message)
    return message
  }
}
