// API keys of several namespaces, for workloads about tenants that share an engine.

/** The secret key of a namespace. */
export const keyOf = (namespace: string) => `bench-key-of-namespace-${namespace}-0123456789`

/** The setting that gives each namespace its key. */
export function keysSetting(namespaces: readonly string[]): { ENGINE_API_KEYS: string } {
  const keys = namespaces.map(namespace => ({ label: namespace, namespace, kind: 'secret', key: keyOf(namespace) }))
  return { ENGINE_API_KEYS: JSON.stringify(keys) }
}
