// API keys, namespaces and stored secrets: read before the engine serves anything, and kept up to date while it does.

import { type Config, isLoopback, refuseOpenDoor } from '../config/config.ts'
import { AdminWatch } from '../services/admin/admin-watch.ts'
import { KeyRing } from '../services/admin/keys.ts'
import { NamespaceKeys } from '../services/admin/namespace-keys.ts'
import { RunAccess } from '../services/admin/run-access.ts'
import { Sessions } from '../services/admin/sessions.ts'
import { reseal } from '../services/webhook/reseal.ts'
import { Vault } from '../services/webhook/vault.ts'
import type { EngineCore } from './core.ts'

export type AdminPart = Awaited<ReturnType<typeof createAdmin>>

/** Throws if the engine must not start: an API key is needed and there is none, or no key opens a stored secret. */
export async function createAdmin(config: Config, core: EngineCore) {
  const { store, catalog, namespaces, clock, log } = core
  const { bus } = core.backends
  const vault = new Vault(config.encryptionKeys)
  const keys = new KeyRing({ fixed: config.apiKeys, loopback: isLoopback(config.host) })
  const watch = new AdminWatch({ admin: store.admin, keys, namespaces, clock, log })
  // The namespace of an engine without keys, and the namespaces of the configured keys.
  const configured = new Set(['default', ...config.apiKeys.map(({ namespace }) => namespace)])
  await store.admin.addNamespaces([...configured], clock.now())
  await watch.refresh()
  catalog.apply(await reseal(store, vault, clock.now()))
  refuseOpenDoor(config, keys)
  bus?.on('keys', () => watch.refreshSoon())
  bus?.onReconnect(() => watch.refreshSoon())
  const refresh = async () => {
    await watch.refresh()
    bus?.publish('keys', '')
  }
  const holders = { ...core, admin: store.admin, keys, refresh }
  const sessions = new Sessions(holders)
  const namespaceKeys = new NamespaceKeys(holders)
  const runAccess = new RunAccess({ ...core, keys })
  return { keys, sessions, namespaceKeys, runAccess, vault, watch }
}
