// Addresses of the databases and services an engine stands on, as people may be told them. Called by config, the banner
// and whatever reports trouble with one.

/** The address with its password, wherever it stands, blotted out. */
export function withoutPassword(url: string): string {
  const told = new URL(url)
  if (told.password !== '') told.password = '***'
  for (const name of [...told.searchParams.keys()])
    if (/password|passphrase|secret/i.test(name)) told.searchParams.set(name, '***')
  return told.href
}
