// API keys of an engine, for scenarios that call it with keys of several kinds or namespaces.

/** The key that `apiKeys` makes of that kind. */
export const keyOf = (kind: string, namespace = 'default') => `${kind}-key-of-${namespace}-0123456789`

/** `ENGINE_API_KEYS` with a key for each label: `read`, or `read of NAMESPACE`. */
export function apiKeys(...labels: string[]): string {
  const keys = labels.map(label => {
    const [kind = '', namespace = 'default'] = label.split(' of ')
    return { label, namespace, kind, key: keyOf(kind, namespace) }
  })
  return JSON.stringify(keys)
}
