// Addresses in payloads. They are shown as text; a user can open one after a question that names its host. Pure.

/** Longer texts are not addresses that a person would open. */
const CHARS_MAX = 2048

/** Returns the web address if the whole text is one. Its host is in the form that the browser uses. */
export function addressIn(text: string): URL | undefined {
  if (text.length > CHARS_MAX || !/^https?:\/\//i.test(text)) return undefined
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}
