// Addresses of the engine's databases and services in a printable form. Called by config, the banner and error reports.

/** The address with every password in it replaced by `***`. */
export function withoutPassword(url: string): string {
  const masked = new URL(url)
  if (masked.password !== '') masked.password = '***'
  for (const name of [...masked.searchParams.keys()])
    if (/password|passphrase|secret/i.test(name)) masked.searchParams.set(name, '***')
  return masked.href
}
