// Names of the environment variables that engine and runners read (`docs/operating.md#settings`). Both may share one
// environment, so each knows the names of both and refuses any other `ENGINE_` name as a misspelling.

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
  'ENGINE_RETENTION',
  'ENGINE_DRAIN_TIMEOUT',
  'ENGINE_CORS_ORIGINS',
  'ENGINE_LOG_LEVEL',
] as const

/** Read by runners, by the SDK's event sender and by the command line. */
export const RUNNER_SETTINGS = ['ENGINE_URL', 'ENGINE_API_KEY', 'ENGINE_SIGNING_KEY', 'ENGINE_REGION'] as const

/** The first name that begins with `ENGINE_` and is not a setting of either side. */
export function unknownSetting(names: readonly string[]): string | undefined {
  const known: readonly string[] = [...ENGINE_SETTINGS, ...RUNNER_SETTINGS]
  return names.find(name => name.startsWith('ENGINE_') && !known.includes(name))
}
