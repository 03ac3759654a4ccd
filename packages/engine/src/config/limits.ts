// The settings that bound what one namespace may keep and hold open (docs/limits.md#bounds), with their defaults. Read by
// config.ts.

import type { ENGINE_SETTINGS } from '@perdure/protocol'

type Setting = (typeof ENGINE_SETTINGS)[number]

/** By bound: its setting and its default. */
export const LIMIT_SETTINGS = {
  apps: ['ENGINE_APP_LIMIT', 1000],
  workflows: ['ENGINE_WORKFLOW_LIMIT', 10_000],
  triggers: ['ENGINE_TRIGGER_LIMIT', 20_000],
  runners: ['ENGINE_RUNNER_LIMIT', 10_000],
  registrationBytes: ['ENGINE_REGISTRATION_BYTES', 4 * 1024 * 1024],
  catalogBytes: ['ENGINE_CATALOG_BYTES', 64 * 1024 * 1024],
  streams: ['ENGINE_STREAM_LIMIT', 10_000],
  keyStreams: ['ENGINE_KEY_STREAM_LIMIT', 8000],
  sockets: ['ENGINE_SOCKET_LIMIT', 8000],
  keySockets: ['ENGINE_KEY_SOCKET_LIMIT', 5000],
} as const satisfies Record<string, readonly [Setting, number]>

export type LimitName = keyof typeof LIMIT_SETTINGS

/** The bounds of a namespace, and of the streams and sockets of one API key. */
export type Limits = Readonly<Record<LimitName, number>>

/** Reads every bound with `read`, which returns the default of a setting that is not set. */
export function readLimits(read: (setting: Setting, fallback: number) => number): Limits {
  const entries = Object.entries(LIMIT_SETTINGS).map(([name, [setting, fallback]]) => [name, read(setting, fallback)])
  return Object.fromEntries(entries)
}
