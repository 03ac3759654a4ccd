// Names of the environment variables that engine and runners read (`docs/operating.md#settings`). Both may share one
// environment, so each knows the names of both and refuses any other `ENGINE_` name as a misspelling.

import { nearestName } from './unknown-name.ts'

/** Settings of the engine that may be secret: keys, and addresses with passwords. */
const ENGINE_SECRETS = [
  'ENGINE_STORE',
  'ENGINE_QUEUE',
  'ENGINE_LIMITER',
  'ENGINE_API_KEYS',
  'ENGINE_SIGNING_KEY',
  'ENGINE_ENCRYPTION_KEY',
] as const
type EngineSecret = (typeof ENGINE_SECRETS)[number]
type SecretFile = `${EngineSecret}_FILE`

/** The names of the settings that give a file with a secret setting's value instead. */
export const ENGINE_SECRET_FILES: readonly SecretFile[] = ENGINE_SECRETS.map(name => `${name}_FILE` as const)

/** Read by the engine. */
export const ENGINE_SETTINGS = [
  'ENGINE_HOST',
  'ENGINE_PORT',
  'ENGINE_STORE',
  'ENGINE_QUEUE',
  'ENGINE_LIMITER',
  'ENGINE_API_KEYS',
  'ENGINE_SIGNING_KEY',
  'ENGINE_ENCRYPTION_KEY',
  'ENGINE_WEBHOOK_ALLOW',
  'ENGINE_WEBHOOK_ALLOW_PRIVATE',
  'ENGINE_WEBHOOK_SCHEDULE',
  'ENGINE_RUNNER_STALE_AFTER',
  'ENGINE_INVOKE_TIMEOUT',
  'ENGINE_BULK_REPLAY_LIMIT',
  'ENGINE_GENERATION_LIMIT',
  'ENGINE_CHILD_GRACE',
  'ENGINE_APP_LIMIT',
  'ENGINE_WORKFLOW_LIMIT',
  'ENGINE_TRIGGER_LIMIT',
  'ENGINE_RUNNER_LIMIT',
  'ENGINE_REGISTRATION_BYTES',
  'ENGINE_CATALOG_BYTES',
  'ENGINE_STREAM_LIMIT',
  'ENGINE_KEY_STREAM_LIMIT',
  'ENGINE_SOCKET_LIMIT',
  'ENGINE_KEY_SOCKET_LIMIT',
  'ENGINE_RETENTION',
  'ENGINE_STREAM_RETENTION',
  'ENGINE_DRAIN_TIMEOUT',
  'ENGINE_CORS_ORIGINS',
  'ENGINE_LOG_LEVEL',
  'ENGINE_CONSOLE',
  'ENGINE_CONSOLE_PAYLOADS',
  'ENGINE_PUBLIC_URL',
  'ENGINE_HOLD',
] as const

/** A setting of the engine that is never secret. */
export type ShownSetting = Exclude<(typeof ENGINE_SETTINGS)[number], EngineSecret>

/** Read by runners, by the SDK's event sender and by the command line. */
export const RUNNER_SETTINGS = [
  'ENGINE_URL',
  'ENGINE_API_KEY',
  'ENGINE_SIGNING_KEY',
  'ENGINE_ALLOW_UNSIGNED',
  'ENGINE_REGION',
] as const
const RUNNER_SECRET_FILES = ['ENGINE_API_KEY_FILE', 'ENGINE_SIGNING_KEY_FILE']

const PREFIX = 'ENGINE_'

/**
 * Returns the first name that begins with `ENGINE_` and is not a setting of either side, and the name that was probably meant.
 */
export function unknownSetting(names: readonly string[]): { name: string; hint: string } | undefined {
  const known: readonly string[] = [
    ...ENGINE_SETTINGS,
    ...ENGINE_SECRET_FILES,
    ...RUNNER_SETTINGS,
    ...RUNNER_SECRET_FILES,
  ]
  const name = names.find(name => name.startsWith(PREFIX) && !known.includes(name))
  if (name === undefined) return undefined
  const withoutPrefix = (one: string) => one.slice(PREFIX.length)
  const nearest = nearestName(withoutPrefix(name), known.map(withoutPrefix))
  return { name, hint: nearest === undefined ? '' : `; did you mean ${PREFIX}${nearest}?` }
}
