// The messages of the relay on the bus: topics by who handles them, and the texts that need more than a split. Engines of
// different versions share a bus during a rolling deployment, so neither topics nor texts may change.

import type { Bus } from '../../../ports/bus.ts'
import type { InvokeReply } from '../../../ports/transport.ts'

/** Which runners are connected to which engine, and how much room they have: among all engines (presence.ts). */
export const PRESENCE_TOPICS = {
  /** The version of the sender's list of runners, every tick. */
  announce: 'here',
  /** A runner has its first socket on the sender, or has lost its last: `version +url` or `version -url`. */
  change: 'moved',
  /** Requests the sender's list. */
  listRequest: 'who',
  /** The version, and the URLs of all runners, one per line. */
  list: 'list',
  /** The room of runners, one per line: `room url`. */
  room: 'room',
  /** The sender waits for room on the runner with this URL. */
  roomRequest: 'want',
  /**
   * Runners that are silent on their sockets are alive: a namespace, the step or nothing, then the instances of the sockets, one
   * per line.
   */
  beat: 'beat',
  /** The sender shuts down. */
  goodbye: 'bye',
} as const

/** From the engine that drives a run to the engine that has the runner's socket (host.ts). */
export const HOST_TOPICS = {
  invoke: 'invoke',
  cancel: 'cancel',
  /** The run of the call with this id has ended: its runner gets `invoke.cancel`, and may still answer. */
  cancelSoftly: 'ended',
  /** The reply with this id has arrived: it does not need to be kept. */
  replyReceived: 'had',
  /** Requests the status of calls, by their ids. */
  statusRequest: 'still',
  /** The result of storing a checkpoint: `id number answer`. */
  checkpointAnswer: 'checkpointed',
} as const

/** From the engine that has the runner's socket back to the caller (transport.ts). */
export const CALLER_TOPICS = {
  reply: 'reply',
  /** `id number`, and the payload on the next line. */
  checkpoint: 'checkpoint',
  /** Calls of a status request that are under way, by their ids. */
  alive: 'alive',
  /** Calls of a status request that the host does not have, by their ids. */
  unknown: 'unknown',
} as const

/** Results that arrived at another engine than the one that waits for them (foreign-results.ts). */
export const RESULT_TOPICS = {
  /** Requests the engine that has the call: `id url`. */
  ownerRequest: 'whose',
  /** The sender has the call with this id. */
  owner: 'mine',
  /** `id status url`, and the body on the next line. */
  result: 'stray',
  /** The result of the call with this id has arrived. */
  resultReceived: 'taken',
} as const

type Handler = (text: string, from: string) => void

/** Subscribes to every topic of a group. */
export function handleTopics<Topics extends Readonly<Record<string, string>>>(
  bus: Bus,
  topics: Topics,
  handlers: Readonly<Record<keyof Topics, Handler>>,
): void {
  for (const name of Object.keys(topics) as (keyof Topics & string)[]) bus.on(topics[name] as string, handlers[name])
}

/** The head of an invoke; the request body is on the next line. */
export interface InvokeHead {
  id: string
  url: string
  /** By the clock that all engines share; absent if the engine is of an earlier version. */
  sentAt?: number
  /** Null stands for Infinity, which JSON cannot express. */
  timeoutMs: number | null
  checkpoints: boolean
  /** Whether another runner would have taken the call when it was sent. */
  mayMove?: boolean
}

/** Puts the body of an answer on its own line, unchanged. */
export function replyText(id: string, reply: InvokeReply): string {
  if (reply.kind !== 'answered') return `${id} ${JSON.stringify(reply)}\n`
  const { body, ...head } = reply
  return `${id} ${JSON.stringify(head)}\n${body}`
}

export function readReply(text: string): { id: string; reply: InvokeReply } {
  const [head, body] = splitOnce(text, '\n')
  const [id, json] = splitOnce(head, ' ')
  const reply = JSON.parse(json) as InvokeReply
  return { id, reply: reply.kind === 'answered' ? { ...reply, body } : reply }
}

/** The first character of a checkpoint's answer. After `stored` comes the payload of the acknowledgement. */
export const CHECKPOINT_ANSWER = { stored: '+', obsolete: '-', failed: '!' } as const

/** Returns the text before the first separator, and all the text after it. */
export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
