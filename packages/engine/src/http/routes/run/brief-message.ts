// The message of an error where many are listed. Used by the routes of errors and statistics.

/** In code points. */
const MESSAGE_CHARS_MAX = 200

export function briefMessage({ message }: { message: string }): string {
  return [...message.slice(0, 2 * MESSAGE_CHARS_MAX)].slice(0, MESSAGE_CHARS_MAX).join('')
}
