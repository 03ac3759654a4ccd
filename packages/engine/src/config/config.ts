// The engine's settings (docs/operating.md#settings): `ENGINE_*` variables, or flags with the same names on `perdure serve`; a
// flag takes precedence. An unknown or unreadable setting stops the start with a message of one line.

import {
  ENGINE_SECRET_FILES,
  ENGINE_SETTINGS,
  parseTextMs,
  SECRET_KEY_BYTES_MIN,
  unknownSetting,
} from '@perdure/protocol'
import { type ApiKey, KEY_KINDS, type KeyKind, nameFault } from '../domain/model/api-key.ts'
import type { Retention } from '../domain/model/workflow.ts'
import { parseRetention } from '../domain/run/retention.ts'
import { AddressList } from '../domain/text/address-list.ts'
import { withoutPassword } from '../domain/text/service-url.ts'
import { DEFAULT_DELIVERY_SCHEDULE_MS, parseDeliverySchedule } from '../domain/webhook/delivery-attempt.ts'
import { type Limits, readLimits } from './limits.ts'
import { readSecretFile } from './secret-file.ts'

interface FixedKey extends ApiKey {
  key: string
}

/** The path of a SQLite file, or `:memory:`; or a PostgreSQL database, which engines may share. */
export type StoreAddress = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string }

/** In the memory of this process, or a Redis. */
type ServiceAddress = { kind: 'memory' } | { kind: 'redis'; url: string }

export interface Config {
  host: string
  port: number
  store: StoreAddress
  /** How engines wake each other. Absent: through the database they share, or, on SQLite, not at all. */
  queue?: ServiceAddress | undefined
  limiter: ServiceAddress
  apiKeys: FixedKey[]
  /** The current signing key first; during a rotation also the previous one. */
  signingKeys: string[]
  /** The key that seals stored secrets first; during a rotation also the previous ones. */
  encryptionKeys: string[]
  webhookAllowPrivate: boolean
  /** The addresses, besides public ones, that webhooks may go to. */
  webhookAllow: AddressList
  webhookScheduleMs: readonly number[]
  runnerStaleAfterMs: number
  /** Deadline of an invoke, on every transport; absent, each has its own. */
  invokeTimeoutMs?: number | undefined
  /** Most runs that one bulk replay forks. */
  bulkReplayLimit: number
  generationLimit: number
  childGraceMs: number
  /** The bounds of one namespace. */
  limits: Limits
  /** How long ended runs are kept; absent: for ever. */
  retention?: Retention | undefined
  /** How long the messages of output streams are kept after their run has ended; absent: as long as the run. */
  streamRetentionMs?: number | undefined
  drainTimeoutMs: number
  /** Origins of the web pages that may call; a single `*` for all. */
  corsOrigins: readonly string[]
  logLevel: string
  /** Whether the engine serves the console. */
  console: boolean
  /** Whether the console shows payloads; otherwise their shapes. */
  consolePayloads: boolean
  /** The address in front of the engine, for links; its path is the prefix that a proxy removes. */
  publicUrl?: string | undefined
  /** Whether the engine starts no work until it is released. */
  hold: boolean
}

/** An unusable setting. Its message is the one line that `perdure serve` prints. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
type Setting = (typeof ENGINE_SETTINGS)[number]

/** The flag of a setting: `ENGINE_DRAIN_TIMEOUT` is `--drain-timeout`. */
export function flagOf(setting: string): string {
  return setting.replace('ENGINE_', '').toLowerCase().replaceAll('_', '-')
}

/** Every flag `perdure serve` takes. */
export const FLAGS: readonly string[] = [...ENGINE_SETTINGS, ...ENGINE_SECRET_FILES].map(flagOf)

/** The flags whose value may be left out: `--hold` is `--hold 1`. */
export const SWITCHES: readonly string[] = (
  ['ENGINE_WEBHOOK_ALLOW_PRIVATE', 'ENGINE_CONSOLE', 'ENGINE_CONSOLE_PAYLOADS', 'ENGINE_HOLD'] satisfies Setting[]
).map(flagOf)

/** Reads and checks the whole configuration, except for the rules that depend on the store. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv, flags: Record<string, string> = {}): Config {
  const unknown = unknownSetting(Object.keys(env))
  if (unknown !== undefined) throw new ConfigError(`${unknown.name} is not a setting of the engine${unknown.hint}`)
  /** Reads the setting's text with `reader`; returns the fallback if it is not set. */
  const read = <T, F>(setting: Setting, fallback: F, reader: Reader<T>): T | F => {
    const text = textOf(setting, flags, env)
    return text === undefined || text === '' ? fallback : reader(text, setting)
  }
  return {
    host: read('ENGINE_HOST', '127.0.0.1', text => text),
    port: read('ENGINE_PORT', 4777, readPort),
    store: read('ENGINE_STORE', readStore(), text => readStore(text)),
    queue: read('ENGINE_QUEUE', undefined, readService),
    limiter: read('ENGINE_LIMITER', { kind: 'memory' }, readService),
    apiKeys: read('ENGINE_API_KEYS', [], readKeys),
    signingKeys: read('ENGINE_SIGNING_KEY', [], readSecrets),
    encryptionKeys: read('ENGINE_ENCRYPTION_KEY', [], readSecrets),
    webhookAllowPrivate: read('ENGINE_WEBHOOK_ALLOW_PRIVATE', false, readBoolean),
    webhookAllow: read('ENGINE_WEBHOOK_ALLOW', AddressList.none, readAddressList),
    webhookScheduleMs: read('ENGINE_WEBHOOK_SCHEDULE', DEFAULT_DELIVERY_SCHEDULE_MS, readSchedule),
    runnerStaleAfterMs: read('ENGINE_RUNNER_STALE_AFTER', 90_000, readDuration),
    invokeTimeoutMs: read('ENGINE_INVOKE_TIMEOUT', undefined, readDuration),
    bulkReplayLimit: read('ENGINE_BULK_REPLAY_LIMIT', 1000, readBulkReplayLimit),
    generationLimit: read('ENGINE_GENERATION_LIMIT', 100, readLimit),
    childGraceMs: read('ENGINE_CHILD_GRACE', 600_000, readGrace),
    limits: readLimits((setting, fallback) => read(setting, fallback, readLimit)),
    retention: read('ENGINE_RETENTION', undefined, readRetention),
    streamRetentionMs: read('ENGINE_STREAM_RETENTION', undefined, readDuration),
    drainTimeoutMs: read('ENGINE_DRAIN_TIMEOUT', 30_000, readDuration),
    corsOrigins: read('ENGINE_CORS_ORIGINS', [], readOrigins),
    logLevel: read('ENGINE_LOG_LEVEL', 'info', readLogLevel),
    console: read('ENGINE_CONSOLE', true, readBoolean),
    consolePayloads: read('ENGINE_CONSOLE_PAYLOADS', true, readBoolean),
    publicUrl: read('ENGINE_PUBLIC_URL', undefined, readPublicUrl),
    hold: read('ENGINE_HOLD', false, readBoolean),
  }
}

type Reader<T> = (text: string, setting: Setting) => T

/** Returns the setting's text: from its flag or variable, or from the file that either names. */
function textOf(setting: Setting, flags: Record<string, string>, env: NodeJS.ProcessEnv): string | undefined {
  const inFile = ENGINE_SECRET_FILES.find(name => name === `${setting}_FILE`)
  if (inFile === undefined) return flags[flagOf(setting)] ?? env[setting]
  return (
    directOrOfFile(setting, flags[flagOf(setting)], flags[flagOf(inFile)]) ??
    directOrOfFile(setting, env[setting], env[inFile])
  )
}

function directOrOfFile(setting: Setting, direct: string | undefined, file: string | undefined): string | undefined {
  if (!file) return direct
  const name = `${setting}_FILE`
  if (direct) throw new ConfigError(`${setting} and ${name} (--${flagOf(name)}) are both set: set only one of them`)
  const read = readSecretFile(file)
  if ('fault' in read) throw new ConfigError(`${name} (--${flagOf(name)}) ${read.fault}`)
  return read.text
}

/** Returns the value of `ENGINE_STORE` for a command that has no flag for it. Throws ConfigError. */
export function storeOfEnvironment(env: NodeJS.ProcessEnv): string | undefined {
  return textOf('ENGINE_STORE', {}, env) || undefined
}

function bad(setting: Setting, problem: string): never {
  throw new ConfigError(`${setting} (--${flagOf(setting)}) ${problem}`)
}

/**
 * Throws ConfigError if an engine without keys listens beyond loopback: everyone who can connect to it could do everything.
 * Called when the store is open, since it may contain keys.
 */
export function refuseOpenDoor({ host, store }: Config, keys: { size: number }): void {
  if (keys.size > 0 || isLoopback(host)) return
  throw new ConfigError(
    `ENGINE_HOST (--host) ${host} is not a loopback address and there is no API key. Make one with ` +
      `"perdure keys create --kind secret --store ${storeName(store)}", or set ENGINE_API_KEYS`,
  )
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** The items of a list separated by commas or white space. */
function readList(text: string): string[] {
  return text.split(/[\s,]+/).filter(word => word !== '')
}

/** Refuses an empty item: it may be an unset variable in place of a key, and must not count as no key. */
function readSecrets(text: string, setting: Setting): string[] {
  if (text.split(',').some(item => item.trim() === ''))
    bad(setting, 'must be one key, or several with commas between them: one of them is empty')
  const keys = readList(text)
  const bytes = Math.min(...keys.map(key => Buffer.byteLength(key)))
  if (bytes < SECRET_KEY_BYTES_MIN)
    bad(setting, `has a key of ${bytes} bytes: ${SECRET_KEY_BYTES_MIN} or more are needed (openssl rand -hex 32)`)
  return keys
}

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) bad('ENGINE_PORT', `must be a port number from 0 to 65535, not "${text}"`)
  return port
}

/**
 * Reads the store that a value of `ENGINE_STORE` or of the flag names. Throws ConfigError; its message never contains a password.
 */
export function readStore(text = 'sqlite:./.perdure/engine.db', flag?: string): StoreAddress {
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return { kind: 'sqlite', file: text.slice('sqlite:'.length) }
  const isPostgres = /^postgres(ql)?:\/\//.test(text)
  const hasHosts = isPostgres && hasSeveralHosts(text)
  if (isPostgres && !hasHosts && URL.canParse(text)) return { kind: 'postgres', url: text }
  const problem = hasHosts
    ? 'names several hosts: name one, such as a name or a proxy that leads to the primary (docs/poolers.md)'
    : 'must look like sqlite:./path/to/file.db or postgres://user@host:5432/database'
  if (flag !== undefined) throw new ConfigError(`${flag} ${problem}`)
  return bad('ENGINE_STORE', problem)
}

/** Whether the address is a list of hosts, in a form that libpq takes: in its authority, or as a parameter. */
function hasSeveralHosts(text: string): boolean {
  const [, authority = '', query = ''] = /^[a-z]+:\/\/([^/?#]*)[^?#]*(?:\?([^#]*))?/.exec(text) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return `${host}${new URLSearchParams(query).get('host') ?? ''}`.includes(',')
}

/** The value of `ENGINE_STORE` for the store, without a password. */
export function storeName(store: StoreAddress): string {
  return store.kind === 'sqlite' ? `sqlite:${store.file}` : withoutPassword(store.url)
}

function readLogLevel(text: string): string {
  return LOG_LEVELS.includes(text)
    ? text
    : bad('ENGINE_LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}, not "${text}"`)
}

function readService(text: string, setting: Setting): ServiceAddress {
  if (text === 'memory') return { kind: 'memory' }
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return { kind: 'redis', url: text }
  return bad(setting, 'must be "memory" or look like redis://host:6379')
}

function readDuration(text: string, setting: Setting): number {
  const ms = parseTextMs(text)
  if (ms === undefined) bad(setting, `must be milliseconds or a duration such as "30s", not "${text}"`)
  if (ms <= 0) bad(setting, `must be more than 0, not "${text}"`)
  return ms
}

/** A duration that may be 0. */
function readGrace(text: string, setting: Setting): number {
  return text === '0' ? 0 : readDuration(text, setting)
}

/** One call holds the ids of all forked runs in memory, and its caller waits for all of them. */
const BULK_REPLAY_LIMIT_MAX = 10_000

function readBulkReplayLimit(text: string): number {
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > BULK_REPLAY_LIMIT_MAX)
    bad('ENGINE_BULK_REPLAY_LIMIT', `must be a number from 1 to ${BULK_REPLAY_LIMIT_MAX}, not "${text}"`)
  return limit
}

function readLimit(text: string, setting: Setting): number {
  return /^[1-9]\d{0,11}$/.test(text)
    ? Number(text)
    : bad(setting, `must be a whole number from 1 to 999999999999, not "${text}"`)
}

function readBoolean(text: string, setting: Setting): boolean {
  if (text === '0' || text === 'false') return false
  if (text === '1' || text === 'true') return true
  return bad(setting, `must be 1 or 0, not "${text}"`)
}

function readAddressList(text: string): AddressList {
  const list = AddressList.of(readList(text))
  if (typeof list !== 'string') return list
  return bad('ENGINE_WEBHOOK_ALLOW', `must list hosts, addresses and ranges such as "10.0.0.0/8", not "${list}"`)
}

function readSchedule(text: string): readonly number[] {
  return (
    parseDeliverySchedule(text) ??
    bad('ENGINE_WEBHOOK_SCHEDULE', `must be a list of durations such as "5s,5m,30m", not "${text}"`)
  )
}

function readRetention(text: string): Retention {
  return (
    parseRetention(text) ??
    bad(
      'ENGINE_RETENTION',
      `must be a duration such as "30d", or several such as "succeeded=7d,failed=90d", not "${text}"`,
    )
  )
}

function readPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    bad('ENGINE_PUBLIC_URL', 'must look like https://perdure.example.com or https://example.com/perdure')
  return url.href.replace(/\/+$/, '')
}

function readOrigins(text: string): readonly string[] {
  const origins = readList(text)
  if (origins.length === 1 && origins[0] === '*') return origins
  for (const origin of origins) {
    if (!isOrigin(origin))
      bad('ENGINE_CORS_ORIGINS', `must list origins such as "https://console.example.com", not "${origin}"`)
  }
  return origins
}

/** An origin as browsers send it: scheme, host, and a port unless it is the default; no path, no closing slash. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** The keys that an `Authorization` header can carry unchanged. */
const SENDABLE = /^[!-~]([ -~]*[!-~])?$/

/** A shorter key could be guessed over the network. */
const API_KEY_CHARS_MIN = 16

/** Throws ConfigError; its message never contains a key. */
function readKeys(text: string): FixedKey[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {}
  if (!Array.isArray(list)) return bad('ENGINE_API_KEYS', 'must be a JSON list of {label, namespace, kind, key}')
  const keys = list.map(readKey)
  for (const [i, { key }] of keys.entries()) {
    const first = keys.findIndex(other => other.key === key)
    if (first < i) bad('ENGINE_API_KEYS', `entry ${i} has the same key as entry ${first}`)
  }
  return keys
}

function readKey(entry: Partial<Record<keyof FixedKey, unknown>> | null, i: number): FixedKey {
  const refuse = (problem: string) => bad('ENGINE_API_KEYS', `entry ${i} ${problem}`)
  const { label, namespace = 'default', kind, key } = entry ?? {}
  if (typeof label !== 'string' || label === '') return refuse('needs a label')
  if (typeof namespace !== 'string') return refuse('has a namespace that is not a string')
  for (const [what, name] of Object.entries({ label, namespace })) {
    const fault = nameFault(name)
    if (fault !== undefined) refuse(`has a ${what} that ${fault}`)
  }
  if (!KEY_KINDS.includes(kind as KeyKind)) refuse(`has an unknown kind: it must be one of ${KEY_KINDS.join(', ')}`)
  if (typeof key !== 'string' || key.length < API_KEY_CHARS_MIN)
    return refuse(`needs a key of ${API_KEY_CHARS_MIN} characters or more`)
  if (!SENDABLE.test(key)) refuse('has a key with characters other than visible ASCII, or with spaces around it')
  return { label, namespace, kind: kind as KeyKind, key }
}
