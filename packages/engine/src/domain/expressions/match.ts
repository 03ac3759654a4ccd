// `match` of waits, `cancelOn` and triggers (docs/events.md#match): values at paths that must be equal. A wait with a match is
// found by a key among all waits for its event name: digests of its paths and of the values that they must have.

import { hash } from 'node:crypto'
import type { EventMatch, MatchValues } from '@perdure/protocol'
import type { MatchPaths } from '../model/event.ts'
import type { ReadEvent } from './evaluations.ts'
import { EventSubject } from './event-subject.ts'

/** Length of a digest in a key. */
export const MATCH_DIGEST_CHARS = 22
/** Comes after every key with the same paths, in byte order: a digest has letters, digits, - and _. */
export const AFTER_MATCH_KEYS = '~'
/** Stands for the values of a wait whose paths its own event lacks: no event has this value. */
const NO_VALUES = '!'

/** The paths of a match, each once, in order. */
export function pathsOf(match: EventMatch): MatchPaths {
  if (typeof match === 'string') return [match]
  const paths: readonly string[] = Array.isArray(match) ? match : Object.keys(match)
  return [...new Set(paths)].sort()
}

/** The digest with which the keys of all matches with these paths begin. */
export function pathsDigest(paths: MatchPaths): string {
  return digestOf(paths.join('\n'))
}

/** The event's key for waits with these paths; undefined if the event lacks one of the paths: then no such wait is for it. */
export function eventMatchKey(paths: MatchPaths, event: EventSubject): string | undefined {
  const values = valuesAt(paths, event)
  return values && pathsDigest(paths) + digestOf(values.join('\n'))
}

/** The key of a wait, or of a watch, in a run that this event started. */
export function waitMatchKey(match: EventMatch, trigger: ReadEvent): string {
  const paths = pathsOf(match)
  const values = expectedOf(match, paths, new EventSubject(trigger))
  return pathsDigest(paths) + (values ? digestOf(values.join('\n')) : NO_VALUES)
}

/** Whether the event has the values of the match. `trigger` is the event that started the run. */
export function isMatched(match: EventMatch, event: EventSubject, trigger: EventSubject): boolean {
  const paths = pathsOf(match)
  const expected = expectedOf(match, paths, trigger)
  const values = expected && valuesAt(paths, event)
  return values?.every((value, i) => value === expected?.[i]) ?? false
}

/** Whether the event has these values. */
export function hasValues(match: MatchValues, event: EventSubject): boolean {
  return isMatched(match, event, event)
}

function expectedOf(match: EventMatch, paths: MatchPaths, trigger: EventSubject): string[] | undefined {
  if (typeof match === 'string' || Array.isArray(match)) return valuesAt(paths, trigger)
  return paths.map(path => textOf((match as MatchValues)[path]) as string)
}

/**
 * The values at the paths as texts, which differ if the values or their types differ; undefined if a value is missing or no
 * scalar.
 */
function valuesAt(paths: MatchPaths, { subject }: EventSubject): string[] | undefined {
  const texts: string[] = []
  for (const path of paths) {
    const text = textOf(valueAt(path, subject.data))
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

/** The value at a path, which begins with `data`. Lists have no members. */
function valueAt(path: string, data: unknown): unknown {
  let value = data
  for (const member of path.split('.').slice(1)) {
    if (value instanceof Map) value = value.get(member)
    else if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, member))
      value = (value as Record<string, unknown>)[member]
    else return undefined
  }
  return value
}

/** A scalar as a text without line breaks, by its type and its value. */
function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      // Zero has two forms, which are equal.
      return String(value === 0 ? 0 : value)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return value === null ? 'null' : undefined
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, MATCH_DIGEST_CHARS)
}
