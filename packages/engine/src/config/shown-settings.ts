// The settings of an engine that are not secret, for `GET /engines` (docs/postgresql.md#engines-of-a-store).

import { durationText, type ShownSetting } from '@perdure/protocol'
import type { Retention } from '../domain/model/workflow.ts'
import type { Config } from './config.ts'
import { LIMIT_SETTINGS, type LimitName } from './limits.ts'

type LimitSetting = (typeof LIMIT_SETTINGS)[LimitName][0]

/** The text of each setting; undefined if it is not set and has no default. The bounds have their own list. */
const TEXTS: {
  readonly [Name in Exclude<ShownSetting, LimitSetting>]: (config: Config) => string | number | boolean | undefined
} = {
  ENGINE_HOST: ({ host }) => host,
  ENGINE_PORT: ({ port }) => port,
  ENGINE_WEBHOOK_ALLOW: ({ webhookAllow }) => listText(webhookAllow.entries),
  ENGINE_WEBHOOK_ALLOW_PRIVATE: ({ webhookAllowPrivate }) => webhookAllowPrivate,
  ENGINE_WEBHOOK_SCHEDULE: ({ webhookScheduleMs }) => webhookScheduleMs.map(durationText).join(','),
  ENGINE_RUNNER_STALE_AFTER: ({ runnerStaleAfterMs }) => durationText(runnerStaleAfterMs),
  ENGINE_INVOKE_TIMEOUT: ({ invokeTimeoutMs }) => invokeTimeoutMs && durationText(invokeTimeoutMs),
  ENGINE_BULK_REPLAY_LIMIT: ({ bulkReplayLimit }) => bulkReplayLimit,
  ENGINE_GENERATION_LIMIT: ({ generationLimit }) => generationLimit,
  ENGINE_CHILD_GRACE: ({ childGraceMs }) => durationText(childGraceMs),
  ENGINE_RETENTION: ({ retention }) => retention && retentionText(retention),
  ENGINE_STREAM_RETENTION: ({ streamRetentionMs }) => streamRetentionMs && durationText(streamRetentionMs),
  ENGINE_DRAIN_TIMEOUT: ({ drainTimeoutMs }) => durationText(drainTimeoutMs),
  ENGINE_CORS_ORIGINS: ({ corsOrigins }) => listText(corsOrigins),
  ENGINE_LOG_LEVEL: ({ logLevel }) => logLevel,
  ENGINE_CONSOLE: ({ console }) => console,
  ENGINE_CONSOLE_PAYLOADS: ({ consolePayloads }) => consolePayloads,
  ENGINE_PUBLIC_URL: ({ publicUrl }) => publicUrl,
  ENGINE_HOLD: ({ hold }) => hold,
}

/** Returns the settings by name; the engine would read the same configuration from them. */
export function shownSettings(config: Config): Record<string, string> {
  const bounds = Object.entries(LIMIT_SETTINGS).map(([name, [setting]]) => [setting, config.limits[name as LimitName]])
  const others = Object.entries(TEXTS).map(([setting, text]) => [setting, text(config)])
  return Object.fromEntries(
    [...others, ...bounds].flatMap(([setting, value]) =>
      value === undefined ? [] : [[setting, typeof value === 'boolean' ? String(Number(value)) : String(value)]],
    ),
  )
}

const listText = (entries: readonly string[]) => (entries.length === 0 ? undefined : entries.join(','))

function retentionText(retention: Retention): string {
  const { succeeded, failed, cancelled } = retention
  if (succeeded !== undefined && succeeded === failed && failed === cancelled) return durationText(succeeded)
  return Object.entries(retention)
    .map(([status, ms]) => `${status}=${durationText(ms)}`)
    .join(',')
}
