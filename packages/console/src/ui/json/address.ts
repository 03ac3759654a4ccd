// Addresses in payloads. They are shown as text; one is opened on request, after a question that names its host. Pure.

/** Longer texts are no addresses that a person would open. */
const CHARS_MAX = 2048

/** The address that the whole text is, when it is one of the web; its host is as the browser will call it. */
export function addressIn(text: string): URL | undefined {
  if (text.length > CHARS_MAX || !/^https?:\/\//i.test(text)) return undefined
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}
